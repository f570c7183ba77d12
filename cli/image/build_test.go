package image

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// project writes a module of a program and of a package that is none.
func project(t *testing.T, module string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module " + module + "\n\ngo 1.26\n",
		"cmd/main.go": "package main\n\nfunc main() {}\n",
		"lib/lib.go":  "package lib\n",
		"bad/main.go": "package main\n\nfunc main() { missing() }\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBuild(t *testing.T) {
	t.Parallel()
	dir := project(t, "example.com/teams/Clock/v2")
	platform := Platform{"linux", "arm64"} // and not that of most machines that test
	file := filepath.Join(t.TempDir(), "image.tar")
	name, err := Build(t.Context(), filepath.Join(dir, "cmd"), "", platform, file)
	if err != nil || name != "clock:dev" {
		t.Fatalf("%q, %v", name, err)
	}
	images, err := Read(file)
	if want := []Image{{[]string{"clock:dev"}, []Platform{platform}}}; err != nil || !reflect.DeepEqual(images, want) {
		t.Errorf("%+v, %v; want %+v", images, err, want)
	}
	img, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if c := config.Config; !reflect.DeepEqual(c.Entrypoint, []string{"/clock"}) || c.User != User || len(config.RootFS.DiffIDs) != 1 {
		t.Errorf("configuration: %+v", config)
	}

	again := filepath.Join(t.TempDir(), "again.tar")
	if _, err := Build(t.Context(), filepath.Join(dir, "cmd"), "", platform, again); err != nil {
		t.Fatal(err)
	}
	one, _ := os.ReadFile(file)
	two, _ := os.ReadFile(again)
	if !bytes.Equal(one, two) {
		t.Error("the same sources made another image")
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	dir := project(t, "example.com/clock")
	tests := map[string]struct{ dir, tag, want string }{
		"no folder":      {"absent", "", "there is no folder"},
		"no program":     {"lib", "", "is the package lib, and no program"},
		"does not build": {"bad", "", "undefined: missing"},
		"no package":     {".", "", "go list in"},
		"name":           {"cmd", "Clock:v1", `"Clock:v1" is no name of an image`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "image.tar")
			_, err := Build(t.Context(), filepath.Join(dir, tt.dir), tt.tag, Platform{"linux", "amd64"}, file)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v; want %q", err, tt.want)
			}
			if _, err := os.Stat(file); !os.IsNotExist(err) {
				t.Error("an archive was left")
			}
		})
	}
}
