// Package cli is the command line: it reads flags, variables and the configuration file, and hands over to the rooms that
// do the work. Nothing in it ends the process; Run returns the exit code.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/apilab/apilab/cli/datadir"
	"github.com/apilab/apilab/cluster"
)

// The exit codes.
const (
	ok           = 0
	failed       = 1 // something went wrong, or was found to be wrong; the message says what
	misused      = 2 // a command, flag or variable that does not exist or has no such value
	inUse        = 3 // another apilab runs on the data directory
	interrupted  = 130
	programName  = "apilab"
	localLearner = "local"
)

// A Program is what the command line is built around.
type Program struct {
	Version    string // of apilab
	Kubernetes string // of the clusters, such as "v1.37.2"
	// Provider makes the provider of the clusters whose data are below a folder. It is a function because it comes with the
	// whole of Kubernetes, which only main links.
	Provider   func(dir string, log *slog.Logger) (Provider, error)
	Executable string // this program's file
	Stdout     io.Writer
	Stderr     io.Writer
}

// A Provider of clusters that ends with the program.
type Provider interface {
	cluster.Provider
	Close() error // stops everything that still runs, and keeps the data
}

// errReported is an error that the user has been told about in full.
var errReported = errors.New("reported")

// A usageError is a mistake in the command line; help is the command that explains it.
type usageError struct {
	err  error
	help string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// Run does what the arguments, without the program's name, ask for, and returns the exit code. When ctx ends it stops
// gracefully.
func (p *Program) Run(ctx context.Context, args []string) int {
	root := p.rootCommand()
	root.SetArgs(args)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	return p.report(ctx, root.ExecuteContext(ctx))
}

func (p *Program) report(ctx context.Context, err error) int {
	var (
		usage *usageError
		held  *datadir.InUseError
	)
	switch {
	case err == nil:
		return ok
	case errors.Is(err, errReported):
		return failed
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return interrupted
	case errors.As(err, &usage):
		fmt.Fprintf(p.Stderr, "%s: %v\nRun `%s --help` to see what there is.\n", programName, err, usage.help)
		return misused
	case errors.As(err, &held):
		fmt.Fprintf(p.Stderr, "%s: %v\n", programName, err)
		return inUse
	default:
		fmt.Fprintf(p.Stderr, "%s: %v\n", programName, err)
		return failed
	}
}
