package image

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// engine puts a script on the PATH, alone there: a fake at the seam of a process.
func engine(t *testing.T, dir, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
}

const (
	has    = `case "$1 $2" in "image inspect") exit 0;; esac; while [ $# -gt 0 ]; do [ "$1" = -o ] && echo "$0" >"$2"; shift; done`
	lacks  = `echo "Error: no such image" >&2; exit 1`
	absent = `echo "Cannot connect to the Docker daemon" >&2; exit 1`
)

func TestSave(t *testing.T) {
	tests := map[string]struct {
		engines map[string]string
		choice  string
		from    string // the engine that saved it
		want    string // in the error
	}{
		"no engine":           {want: "there is no docker, nerdctl, finch, podman on this machine"},
		"the first":           {engines: map[string]string{"docker": has, "podman": has}, from: "docker"},
		"the one that has it": {engines: map[string]string{"docker": lacks, "podman": has}, from: "podman"},
		"the chosen one":      {engines: map[string]string{"docker": has, "podman": has}, choice: "podman", from: "podman"},
		"chosen, not there":   {engines: map[string]string{"docker": has}, choice: "podman", want: "there is no podman on this machine"},
		"none has it":         {engines: map[string]string{"docker": lacks, "podman": lacks}, want: "docker, podman has no image app:v1: `docker images` lists"},
		"one is not up":       {engines: map[string]string{"docker": absent, "podman": lacks}, want: "Cannot connect to the Docker daemon"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			for name, script := range tt.engines {
				engine(t, path, name, script)
			}
			t.Setenv("PATH", path)
			t.Setenv("KIND_EXPERIMENTAL_PROVIDER", tt.choice)
			file := filepath.Join(t.TempDir(), "image.tar")
			err := Save(t.Context(), "app:v1", file)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v; want %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if saved, _ := os.ReadFile(file); strings.TrimSpace(string(saved)) != filepath.Join(path, tt.from) {
				t.Errorf("saved by %q", saved)
			}
		})
	}
}
