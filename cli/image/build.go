// Package image makes container images of Go programs, reads archives of images, and gets them from a container engine. It knows
// nothing of clusters.
package image

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// User is whom the program in a built image runs as: nobody that a node knows, as in distroless images.
const User = "65532:65532"

// A Platform is what programs of an image run on, as "linux/amd64".
type Platform struct{ OS, Arch string }

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// ParsePlatform reads "linux/amd64". A variant, as in "linux/arm/v7", is left out: nodes do not name theirs.
func ParsePlatform(s string) (Platform, error) {
	words := strings.Split(s, "/")
	if len(words) < 2 || words[0] == "" || words[1] == "" {
		return Platform{}, fmt.Errorf("%q is no platform: write it as linux/amd64", s)
	}
	return Platform{words[0], words[1]}, nil
}

// epoch is the time of all that is built, so that the same sources make the same image.
var epoch = time.Unix(0, 0).UTC()

// Build compiles the main package in dir with the machine's Go for a platform, and writes the archive of an image to file: one
// layer, in it the program, statically linked, and nothing else. tag is its name, such as "backup-operator:v1"; empty is that
// of the module with the tag dev. It returns the name.
func Build(ctx context.Context, dir, tag string, p Platform, file string) (string, error) {
	program, err := mainPackage(ctx, dir)
	if err != nil {
		return "", err
	}
	if tag == "" {
		tag = program + ":dev"
	}
	ref, err := name.NewTag(tag)
	if err != nil {
		return "", fmt.Errorf("%q is no name of an image: write it as NAME:TAG, in lower case", tag)
	}
	room, err := os.MkdirTemp("", "apilab-build-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the program: %w", err)
	}
	defer os.RemoveAll(room)
	binary := filepath.Join(room, program)
	if err := compile(ctx, dir, binary, p); err != nil {
		return "", err
	}
	img, err := assemble(binary, p)
	if err != nil {
		return "", fmt.Errorf("assemble the image: %w", err)
	}
	if err := writeArchive(file, ref, img); err != nil {
		return "", fmt.Errorf("write the image: %w", err)
	}
	return ref.String(), nil
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// mainPackage looks whether there is a program in dir, and returns what to call it: as its module.
func mainPackage(ctx context.Context, dir string) (string, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("there is no folder %s: name that of a main package, such as ./cmd", dir)
	}
	out, err := runGo(ctx, dir, nil, "list", "-json=Name,ImportPath,Module")
	if err != nil {
		return "", err
	}
	var found struct {
		Name, ImportPath string
		Module           *struct{ Path string }
	}
	if err := json.Unmarshal(out, &found); err != nil {
		return "", fmt.Errorf("understand go list: %w", err)
	}
	if found.Name != "main" {
		return "", fmt.Errorf("%s is the package %s, and no program: name the folder of a main package, such as ./cmd", dir, found.Name)
	}
	module := found.ImportPath
	if found.Module != nil {
		module = found.Module.Path
	}
	if majorVersion.MatchString(path.Base(module)) {
		module = path.Dir(module)
	}
	return strings.ToLower(path.Base(module)), nil
}

func compile(ctx context.Context, dir, binary string, p Platform) error {
	env := []string{"CGO_ENABLED=0", "GOOS=" + p.OS, "GOARCH=" + p.Arch}
	_, err := runGo(ctx, dir, env, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", binary)
	return err
}

// runGo runs the go command in a folder. What it prints when it fails is the error.
func runGo(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("there is no go on the PATH: install Go (https://go.dev/dl)")
	default:
		return nil, fmt.Errorf("go %s in %s: %w\n%s", args[0], dir, err, bytes.TrimSpace(stderr.Bytes()))
	}
}

// assemble makes the image of a program.
func assemble(binary string, p Platform) (v1.Image, error) {
	program := "/" + filepath.Base(binary)
	layer, err := layerOf(binary, program)
	if err != nil {
		return nil, err
	}
	img, err := mutate.Append(empty.Image, mutate.Addendum{
		Layer: layer, History: v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "apilab kind build"},
	})
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.OS, p.Arch, v1.Time{Time: epoch}
	config.Config = v1.Config{Entrypoint: []string{program}, User: User, WorkingDir: "/", Env: []string{"PATH=/"}}
	return mutate.ConfigFile(img, config)
}

// layerOf is a layer with one file, that anyone may run.
func layerOf(binary, program string) (v1.Layer, error) {
	data, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	header := &tar.Header{Name: strings.TrimPrefix(program, "/"), Mode: 0o555, Size: int64(len(data)), ModTime: epoch, Typeflag: tar.TypeReg}
	if err := w.WriteHeader(header); err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil })
}

func writeArchive(file string, ref name.Tag, img v1.Image) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	err = tarball.Write(ref, img, f)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		_ = os.Remove(file)
	}
	return err
}
