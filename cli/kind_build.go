package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/apilab/apilab/cli/image"
	"github.com/apilab/apilab/cluster/kind"
)

// build writes the archive of a program's image to a file.
func (p *Program) build(ctx context.Context, dir, tag, platform, output string) error {
	want := image.Platform{OS: "linux", Arch: runtime.GOARCH}
	if platform != "" {
		parsed, err := image.ParsePlatform(platform)
		if err != nil {
			return &usageError{fmt.Errorf("--platform: %w", err), "apilab kind build"}
		}
		want = parsed
	}
	name, err := image.Build(ctx, dir, tag, want, output)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "built %s for %s\n", name, want)
	if strings.HasSuffix(name, ":latest") {
		fmt.Fprintf(p.Stderr, "%s: with the tag latest a Pod pulls its image from a registry each time: choose another with --tag\n", programName)
	}
	return nil
}

// buildAndLoad builds for the nodes of the learner's cluster, unless another platform is asked for, and loads the image.
func (p *Program) buildAndLoad(ctx context.Context, g *global, dir, tag, platform string) error {
	nodes, err := p.nodes(ctx, g) // before the build takes its time
	if err != nil {
		return err
	}
	if platform == "" {
		platform = nodes.String()
	}
	room, err := os.MkdirTemp("", "apilab-image-")
	if err != nil {
		return fmt.Errorf("make a folder for the image: %w", err)
	}
	defer os.RemoveAll(room)
	archive := filepath.Join(room, "image.tar")
	if err := p.build(ctx, dir, tag, platform, archive); err != nil {
		return err
	}
	return p.load(ctx, g, archive, nodes)
}

// saveImage gets an image from the container engine that kind uses, into a file that is there until remove.
func saveImage(ctx context.Context, name string) (archive string, remove func(), err error) {
	engine, err := kind.Detect(ctx)
	if err != nil {
		return "", nil, err
	}
	room, err := os.MkdirTemp("", "apilab-image-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for the image: %w", err)
	}
	archive = filepath.Join(room, "image.tar")
	if err := image.Save(ctx, string(engine), name, archive); err != nil {
		_ = os.RemoveAll(room)
		return "", nil, err
	}
	return archive, func() { _ = os.RemoveAll(room) }, nil
}
