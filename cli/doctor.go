package cli

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apilab/apilab/cli/datadir"
)

// A finding is what one check of doctor came to.
type finding struct {
	grade grade
	says  string
	fix   string // what to do about it, unless it is good
}

// A grade says how bad a finding is.
type grade string

const (
	good    grade = "ok"
	warning grade = "warn" // apilab works, with a limit
	bad     grade = "FAIL" // it does not
)

// A named finding is one line of doctor's.
type named struct {
	name string
	finding
}

// An examination is one check of doctor.
type examination struct {
	name string
	run  func(ctx context.Context) finding
}

func (p *Program) doctorCommand(g *global) *cobra.Command {
	var (
		o        backendFlags
		learners int
	)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that this machine has what apilab needs",
		Long:  "Checks that this machine has what apilab needs, and says what to do where something is missing. It makes\nnothing but the data directory.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return &usageError{err, "apilab doctor"}
			}
			return p.examine(cmd.Context(), []examination{
				{"system", examineSystem},
				{"data directory", func(context.Context) finding { return examineDataDir(g.dataDir) }},
				{"disk", func(context.Context) finding { return examineDisk(g.dataDir) }},
				{"memory", func(context.Context) finding { return examineMemory(learners) }},
				{"limits", func(ctx context.Context) finding { return examineLimits(ctx, learners) }},
				{"inotify", func(context.Context) finding { return examineInotify(learners) }},
				{"open files", examineOpenFiles},
				{"loopback", examineLoopback},
				{"shell sandbox", examineSandbox},
				{"browser", examineBrowser},
				{"kubectl", examineKubectl},
			}, func(ctx context.Context) []named { return p.examineKind(ctx, g.dataDir, o, learners) })
		},
	}
	o.add(cmd.Flags())
	cmd.Flags().IntVar(&learners, "learners", 1, "learners at a time whose clusters this machine is to hold")
	return cmd
}

// examine prints what each examination finds, and then what more is found.
func (p *Program) examine(ctx context.Context, examinations []examination, more func(context.Context) []named) error {
	failures := 0
	tell := func(f named) {
		fmt.Fprintf(p.Stdout, "%-5s %-24s %s\n", f.grade, f.name, f.says)
		if f.grade != good && f.fix != "" {
			fmt.Fprintf(p.Stdout, "%-5s %-24s → %s\n", "", "", f.fix)
		}
		if f.grade == bad {
			failures++
		}
	}
	for _, e := range examinations {
		tell(named{e.name, e.run(ctx)})
	}
	for _, f := range more(ctx) {
		tell(f)
	}
	if failures > 0 {
		return errReported
	}
	fmt.Fprintln(p.Stdout, "\napilab can run here. It needs no network and no account, and an engine for real nodes alone.")
	return nil
}

func examineSystem(context.Context) finding {
	system := runtime.GOOS + "/" + runtime.GOARCH
	says := fmt.Sprintf("%s, %d CPUs", system, runtime.NumCPU())
	switch system {
	case "linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64":
		return finding{grade: good, says: says}
	default:
		return finding{warning, says, "apilab is tried on Linux and macOS, on amd64 and arm64; elsewhere you are the first"}
	}
}

func examineDataDir(path string) finding {
	if holder, running, err := datadir.HolderOf(path); err == nil && running {
		return finding{grade: good, says: fmt.Sprintf("%s, in use by the apilab at %s (process %d)", path, holder.Address, holder.PID)}
	}
	if err := datadir.Check(path); err != nil {
		return finding{bad, path, err.Error()}
	}
	return finding{grade: good, says: path}
}

func examineLoopback(ctx context.Context) finding {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err == nil {
		defer l.Close()
		var conn net.Conn
		if conn, err = new(net.Dialer).DialContext(ctx, "tcp4", l.Addr().String()); err == nil {
			conn.Close()
			return finding{grade: good, says: "127.0.0.1 answers"}
		}
	}
	return finding{bad, err.Error(), "bring the loopback interface up (Linux: `ip link set lo up`), and let a firewall pass connections to 127.0.0.1"}
}

func examineBrowser(context.Context) finding {
	name, err := opener()
	if err != nil {
		return finding{warning, err.Error(), "apilab prints the link to open; from another machine, forward the port: `ssh -L 8484:127.0.0.1:8484 HOST`"}
	}
	return finding{grade: good, says: "opened with " + name}
}

func examineKubectl(ctx context.Context) finding {
	path, err := exec.LookPath("kubectl")
	if err != nil {
		return finding{grade: good, says: "none installed; the terminal in the page has its own"}
	}
	output, err := exec.CommandContext(ctx, path, "version", "--client").Output()
	if err != nil {
		return finding{warning, path + " does not run", "the terminal in the page has its own; mend yours only if you want to use it"}
	}
	version, _, _ := strings.Cut(string(output), "\n")
	return finding{grade: good, says: path + ", " + version}
}

func byteCount(n uint64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	default:
		return fmt.Sprintf("%d MiB", n>>20)
	}
}
