package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apilab/apilab/cli/control"
	"github.com/apilab/apilab/cli/image"
)

func (p *Program) kindCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kind",
		Short: "Put images onto the nodes of your kind cluster",
		Long: "Puts images onto the nodes of the kind cluster that you have with the apilab that runs on the data directory. Pods find them\n" +
			"there without a registry, unless their imagePullPolicy is Always, which it is by default for the tag latest.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return &usageError{errors.New("say what to do: apilab kind build DIR, or apilab kind load IMAGE"), "apilab kind"}
		},
	}
	cmd.AddCommand(p.kindLoadCommand(g), p.kindBuildCommand(g))
	return cmd
}

func (p *Program) kindLoadCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "load IMAGE|ARCHIVE",
		Short: "Load an image of your container engine, or an archive of one",
		Long: "Loads an image onto the nodes of your kind cluster: one that the container engine of this machine has under this name, or one\n" +
			"from a file, as `docker save` and `podman save` write it. What has a folder in front (./app.tar) or ends with .tar is a file.\n" +
			"Pods find the image under the name that is printed.",
		Args: usageArgs(exactly("an image or an archive of one: apilab kind load backup-operator:v1")),
		RunE: func(cmd *cobra.Command, args []string) error {
			nodes, err := p.nodes(cmd.Context(), g)
			if err != nil {
				return err
			}
			archive := args[0]
			if !isArchive(archive) {
				saved, remove, err := saveImage(cmd.Context(), archive)
				if err != nil {
					return err
				}
				defer remove()
				archive = saved
			}
			return p.load(cmd.Context(), g, archive, nodes)
		},
	}
}

func (p *Program) kindBuildCommand(g *global) *cobra.Command {
	var tag, output, platform string
	cmd := &cobra.Command{
		Use:   "build DIR",
		Short: "Build a Go program into an image, and load it",
		Long: "Compiles the main package in the folder DIR for the nodes of your kind cluster with the Go that is installed, makes an image of\n" +
			"the program and loads it. It needs neither a Dockerfile nor a container engine, and is called build as theirs is. In the image is\n" +
			"the static program and nothing else, no shell and no certificates; it runs as user " + image.User + ". The same sources make the same image.",
		Args: usageArgs(exactly("the folder of a main package: apilab kind build ./cmd")),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "" {
				return p.build(cmd.Context(), args[0], tag, platform, output)
			}
			return p.buildAndLoad(cmd.Context(), g, args[0], tag, platform)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&tag, "tag", "t", "", "name of the image, NAME:TAG (default: the module's last word, with the tag dev); a new tag for each build lets a Deployment replace its Pods")
	flags.StringVarP(&output, "output", "o", "", "write an archive to this file instead; no cluster is needed then")
	flags.StringVar(&platform, "platform", "", "what to compile for (default: the platform of the nodes; with --output linux/ and this machine's architecture)")
	return cmd
}

// exactly wants one argument, and says which.
func exactly(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return errors.New("name " + what)
		}
		return nil
	}
}

// nodes returns the platform of the nodes of the learner's kind cluster.
func (p *Program) nodes(ctx context.Context, g *global) (image.Platform, error) {
	platform, err := control.Platform(ctx, g.dataDir)
	if err != nil {
		return image.Platform{}, err
	}
	return image.ParsePlatform(platform)
}

func isArchive(arg string) bool {
	if info, err := os.Stat(arg); err == nil && !info.IsDir() {
		return true
	}
	return strings.HasSuffix(arg, ".tar") || strings.HasPrefix(arg, ".") || filepath.IsAbs(arg)
}

// load puts the images of an archive onto the nodes, unless they cannot run there.
func (p *Program) load(ctx context.Context, g *global, archive string, nodes image.Platform) error {
	path, err := filepath.Abs(archive)
	if err != nil {
		return fmt.Errorf("load %s: %w", archive, err)
	}
	images, err := image.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no file %s", archive)
	}
	if err != nil {
		return err
	}
	for _, i := range images {
		if !i.RunsOn(nodes) {
			return fmt.Errorf("the image %s is for %s, and the nodes of your cluster are %s: build it for them", i.Names[0], platforms(i), nodes)
		}
	}
	if err := control.LoadImages(ctx, g.dataDir, path); err != nil {
		return err
	}
	for _, i := range images {
		fmt.Fprintln(p.Stdout, "loaded", strings.Join(i.Names, ", "))
	}
	return nil
}

func platforms(i image.Image) string {
	words := make([]string, len(i.Platforms))
	for n, p := range i.Platforms {
		words[n] = p.String()
	}
	return strings.Join(words, ", ")
}
