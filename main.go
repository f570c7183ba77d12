// apilab teaches the Kubernetes API machinery: lessons in the browser, a real cluster in the binary, checks that turn green
// by themselves. One binary is every program of it; this file only chooses which one runs, and wires the rooms together.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/apilab/apilab/cli"
	"github.com/apilab/apilab/cluster/embedded"
	"github.com/apilab/apilab/cluster/embedded/kubeversion"
	"github.com/apilab/apilab/cluster/kind"
	"github.com/apilab/apilab/shell"
)

// version is set by the linker (-X main.version=v1.2.3).
var version = "dev"

func main() { os.Exit(run(os.Args)) }

// run returns the exit code of the program that argv names: by its first word, as the shell calls kubectl, or by its first
// argument, as the server starts its children.
func run(argv []string) int {
	name, args := filepath.Base(argv[0]), argv[1:]
	if program, ok := programs[name]; ok {
		return program(args)
	}
	if len(args) > 0 {
		if program, ok := programs[args[0]]; ok {
			return program(args[1:])
		}
	}
	return apilab(args)
}

var programs = map[string]func(args []string) int{
	"kubectl":        shell.KubectlMain,
	"shell":          shell.Main,
	"editor":         shell.EditorMain,
	embedded.Command: func(args []string) int { return embedded.Main(context.Background(), args) },
	kind.Command:     func(args []string) int { return kind.Main(context.Background(), args) },
}

// apilab is the program that people start.
func apilab(args []string) int {
	executable, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "apilab: find this program's own file:", err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the first signal stops gracefully; a second one, with its default effect, at once
	program := cli.Program{
		Version:    version,
		Kubernetes: kubeversion.Version,
		Executable: executable,
		Provider: func(dir string, log *slog.Logger) (cli.Provider, error) {
			provider, err := embedded.New(embedded.Options{
				Dir:        filepath.Join(dir, "clusters"),
				Templates:  filepath.Join(dir, "templates"),
				Executable: executable,
				Logger:     log,
			})
			if err != nil {
				return nil, err
			}
			return provider, nil
		},
		Stdout: os.Stdout,
		Stderr: os.Stderr,
	}
	return program.Run(ctx, args)
}
