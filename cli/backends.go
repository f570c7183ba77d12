package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/pflag"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/kind"
)

// The names of the backends.
const (
	embeddedBackend = "embedded"
	kindBackend     = "kind"
)

// nodeLogs is the folder, in the data directory, with the logs of nodes that did not start.
const nodeLogs = "kind-logs"

// backendFlags say what clusters are made of.
type backendFlags struct {
	provider string
	image    string
	archive  string
	load     []string
	keepLogs bool
}

func (o *backendFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&o.provider, "provider", embeddedBackend, "clusters that learners begin with: embedded, or kind for real nodes on docker, podman or nerdctl")
	flags.StringVar(&o.image, "kind-image", "", "node image of kind clusters (default: that of kind's release)")
	flags.StringVar(&o.archive, "kind-image-archive", "", "file with the node image of kind clusters (docker save), for machines without a network")
	flags.StringSliceVar(&o.load, "kind-load", nil, "files with images (docker save) that every new kind cluster gets, for machines without a network")
	flags.BoolVar(&o.keepLogs, "kind-keep-logs", false, "keep the logs of nodes that did not start, in the data directory")
}

func (o *backendFlags) validate() error {
	if o.provider != embeddedBackend && o.provider != kindBackend {
		return fmt.Errorf("--provider: there is no provider %q: choose embedded or kind", o.provider)
	}
	for flag, files := range map[string][]string{"--kind-image-archive": {o.archive}, "--kind-load": o.load} {
		for _, file := range files {
			if _, err := os.Stat(file); file != "" && err != nil {
				return fmt.Errorf("%s: %w", flag, err)
			}
		}
	}
	return nil
}

// A backend ends with the program.
type backend struct {
	cluster.Backend
	close func() error // stops everything that still runs, and keeps the data
}

// newBackend makes the backend of a name, whose data are below the folder dir.
func (p *Program) newBackend(ctx context.Context, name, dir string, o backendFlags, log *slog.Logger) (backend, error) {
	if name == embeddedBackend {
		provider, err := p.Provider(dir, log)
		if err != nil {
			return backend{}, err
		}
		return backend{cluster.Backend{Name: name, Provider: provider, Memory: 128 << 20}, provider.Close}, nil
	}
	engine, err := kind.Detect(ctx)
	if err != nil {
		return backend{}, err
	}
	options := p.kindOptions(dir, engine, o)
	options.Logger = log
	provider, err := kind.New(options)
	if err != nil {
		return backend{}, err
	}
	// A node's start takes more than one processor for half a minute.
	return backend{cluster.Backend{Name: name, Provider: provider, Parallel: max(1, runtime.GOMAXPROCS(0)/4), Memory: 600 << 20}, provider.Close}, nil
}

func (p *Program) kindOptions(dir string, engine kind.Engine, o backendFlags) kind.Options {
	options := kind.Options{
		Dir:          filepath.Join(dir, "kind"),
		Executable:   p.Executable,
		Engine:       engine,
		Image:        o.image,
		ImageArchive: o.archive,
		Load:         o.load,
		Kubernetes:   p.Kubernetes,
	}
	if o.keepLogs {
		options.KeepLogs = filepath.Join(dir, nodeLogs)
	}
	return options
}

// backends makes all that this machine can have, the one that was asked for first. That one must be there; others may not.
// For strangers there is only the embedded one: who may do anything in a kind cluster is root in a privileged container.
func (p *Program) backends(ctx context.Context, dir string, o backendFlags, strangers bool, log *slog.Logger) ([]backend, error) {
	names := []string{embeddedBackend, kindBackend}
	switch {
	case strangers:
		names = names[:1]
	case o.provider == kindBackend:
		slices.Reverse(names)
	}
	var all []backend
	for _, name := range names {
		b, err := p.newBackend(ctx, name, dir, o, log)
		switch {
		case err == nil:
			all = append(all, b)
		case name == o.provider || name == embeddedBackend:
			closeAll(all)
			return nil, err
		default:
			log.Info("no kind clusters on this machine", "why", err)
		}
	}
	return all, nil
}

func closeAll(all []backend) {
	for _, b := range all {
		_ = b.close()
	}
}
