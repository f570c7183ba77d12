package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"

	"github.com/apilab/apilab/cli/control"
	"github.com/apilab/apilab/cli/datadir"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/gateway"
	"github.com/apilab/apilab/server"
)

// preferredPort is the pages' port where it is free. It is below what systems give out by themselves.
const preferredPort = 8484

type serveOptions struct {
	*global
	public      publicFlags
	backends    backendFlags
	upkeep      upkeepFlags
	port        int
	gatewayPort int
	content     string
	shell       string
	noOpen      bool
	preview     bool // the content's author looks
}

func (p *Program) serveCommand(g *global) *cobra.Command {
	return p.serveCommandOf(&serveOptions{global: g})
}

// serveCommandOf is the command that sets options.
func (p *Program) serveCommandOf(o *serveOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the lessons for one learner on this machine, or for classes",
		Long: "Serves the lessons on 127.0.0.1 for one learner, and opens the browser. Ctrl-C stops it, and keeps everything.\n\n" +
			"With --listen it serves classes: an admin makes instructors, instructors make classes, learners join them by a code,\n" +
			"and everybody has a cluster of their own.",
		RunE: func(cmd *cobra.Command, _ []string) error { return p.serve(cmd.Context(), *o) },
	}
	flags := cmd.Flags()
	flags.IntVar(&o.port, "port", 0, "port of the pages on 127.0.0.1 (default: that of last time, else 8484, else any free one)")
	flags.IntVar(&o.gatewayPort, "gateway-port", 0, "port of the API server for your own kubectl (default: that of last time, else 6443, else any free one)")
	flags.StringVar(&o.content, "content", "", "folder with your own content/ and exercises/, read again whenever they change")
	flags.StringVar(&o.shell, "shell", "sandboxed", "shell in the terminals: sandboxed, or host for your own $SHELL with all your rights")
	o.public.add(flags)
	o.backends.add(flags)
	o.upkeep.add(flags)
	flags.BoolVar(&o.noOpen, "no-open", false, "do not open the browser")
	return cmd
}

func (o *serveOptions) validate() error {
	for flag, port := range map[string]int{"port": o.port, "gateway-port": o.gatewayPort} {
		if port < 0 || port > 65535 {
			return &usageError{fmt.Errorf("--%s: %d is no port: choose one from 1 to 65535, or 0 for any", flag, port), "apilab serve"}
		}
	}
	if o.shell != "sandboxed" && o.shell != "host" {
		return &usageError{fmt.Errorf("--shell: there is no shell %q: choose sandboxed or host", o.shell), "apilab serve"}
	}
	if err := o.public.validate(o); err != nil {
		return &usageError{err, "apilab serve"}
	}
	if err := o.backends.validate(); err != nil {
		return &usageError{err, "apilab serve"}
	}
	if _, err := o.upkeep.options(); err != nil {
		return &usageError{err, "apilab serve"}
	}
	if _, err := o.upkeep.limits(); err != nil {
		return &usageError{err, "apilab serve"}
	}
	return nil
}

func (p *Program) serve(ctx context.Context, o serveOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	if f := examineLoopback(ctx); f.grade == bad {
		return fmt.Errorf("this machine's loopback does not work (%s): %s", f.says, f.fix)
	}
	dir, err := datadir.Open(o.dataDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	log := p.logger(o.logLevel)
	backends, err := p.backends(ctx, dir.Path, o.backends, o.public.strangers(), log)
	if err != nil {
		return err
	}
	defer closeAll(backends)
	public, err := o.public.public(dir)
	if err != nil {
		return err
	}
	s, err := p.newServer(dir, o, public, backends, log)
	if err != nil {
		return err
	}
	welcome := p.welcome
	if o.public.listen != "" {
		welcome = p.welcomeAdmin
	}
	greet, err := welcome(s, dir)
	if err != nil {
		return errors.Join(err, s.Close())
	}

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Serve(ctx) })
	group.Go(func() error { return control.Serve(ctx, dir.Path, s) })
	greet(ctx, o.noOpen, log)
	if a := o.public.authority; a != nil {
		go a.obtain(ctx, log) // it may be in the midst of an attempt when the rest ends
	}
	return group.Wait()
}

// logger prints the rooms' lines, and those of the Kubernetes libraries in them.
func (p *Program) logger(level slog.Level) *slog.Logger {
	log := slog.New(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: level}))
	klog.SetSlogLogger(log.With("library", "kubernetes"))
	return log
}

// newServer opens the server on the port that was asked for; without one, on the first free of the preferred ones, so that
// a page that is open in the browser finds its server again after a restart.
func (p *Program) newServer(dir *datadir.Dir, o serveOptions, public *server.Public, all []backend, log *slog.Logger) (*server.Server, error) {
	backends := make([]cluster.Backend, len(all))
	for n, b := range all {
		backends[n] = b.Backend
	}
	upkeep, err := o.upkeep.options()
	if err != nil {
		return nil, err
	}
	if public != nil {
		each, err := o.upkeep.limits()
		if err != nil {
			return nil, err
		}
		upkeep.Limits = openLimits(each, upkeep.Warm, log)
	}
	ports := []int{o.port}
	if o.port == 0 {
		ports = []int{lastPort(dir), preferredPort, 0}
	}
	addresses := []string{o.public.listen}
	if public == nil {
		addresses = nil
		for _, port := range ports {
			addresses = append(addresses, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		}
	}
	for _, address := range addresses {
		s, err := server.New(server.Options{
			DataDir:      dir.Path,
			Backends:     backends,
			Clusters:     upkeep,
			Listen:       address,
			Public:       public,
			GatewayPort:  o.gatewayPort,
			ContentDir:   o.content,
			NodeLogs:     dir.Join(nodeLogs),
			Preview:      o.preview,
			HostShell:    o.shell == "host",
			Executable:   p.Executable,
			Version:      p.Version,
			CommandFlags: datadir.Flag(dir.Path),
			Logger:       log,
		})
		if err == nil {
			return s, nil
		}
		switch {
		case errors.Is(err, gateway.ErrPortBusy):
			return nil, fmt.Errorf("port %d is in use by another program: choose another with --gateway-port, or leave it out for any free one", o.gatewayPort)
		case !errors.Is(err, syscall.EADDRINUSE):
			return nil, err
		case public != nil:
			return nil, fmt.Errorf("%s is in use by another program: choose another port with --listen", o.public.listen)
		case o.port != 0:
			return nil, fmt.Errorf("port %d is in use by another program: choose another with --port, or leave it out for any free one", o.port)
		}
	}
	return nil, errors.New("no port of 127.0.0.1 is free: end some programs")
}

const portFile = "port"

// lastPort is the pages' port of last time. Without one it is the preferred one.
func lastPort(dir *datadir.Dir) int {
	data, err := os.ReadFile(dir.Join(portFile))
	if err != nil {
		return preferredPort
	}
	port, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 16)
	if err != nil {
		return preferredPort
	}
	return int(port)
}

func savePort(dir *datadir.Dir, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		err = os.WriteFile(dir.Join(portFile), []byte(port+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("remember the port: %w", err)
	}
	return nil
}

// A greet tells where everything is, once it is there.
type greet func(ctx context.Context, noOpen bool, log *slog.Logger)

// welcome announces the server, and returns what greets its learner and opens the browser.
func (p *Program) welcome(s *server.Server, dir *datadir.Dir) (greet, error) {
	if err := errors.Join(dir.Announce("http://"+s.Addr()+"/"), savePort(dir, s.Addr())); err != nil {
		return nil, err
	}
	link, err := s.SignInURL()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, noOpen bool, log *slog.Logger) {
		io.WriteString(p.Stdout, greeting(p.Version, s.Addr(), link, dir.Path))
		if noOpen {
			return
		}
		if err := openBrowser(ctx, link); err != nil {
			log.Info("the browser was not opened", "error", err)
			io.WriteString(p.Stdout, "No browser could be opened here: open the link above.\n")
		}
	}, nil
}

// greeting names the data directory in each command that needs to know it.
func greeting(version, address, link, dir string) string {
	flag := datadir.Flag(dir)
	kept := "your cluster and your progress are kept"
	if flag != "" {
		kept += " in " + dir
	}
	return fmt.Sprintf("apilab %s is at http://%s/\n\n", version, address) +
		"  Sign in      " + link + "  (once, within 10 minutes; `apilab open" + flag + "` gives another)\n" +
		"  Own kubectl  apilab kubeconfig" + flag + " -o apilab.yaml && kubectl --kubeconfig apilab.yaml get ns\n" +
		"  Stop         Ctrl-C; " + kept + "\n\n"
}
