// Package kubectl is kubectl, all of it, closed in to the learner's files, ports and API server: names of files are
// checked and rewritten just before a command runs, connections go only where a learner's may, and nothing is executed
// but this program's own editor and diff. It knows nothing of terminals and shells.
package kubectl

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/cli"
	"k8s.io/klog/v2"
	"k8s.io/kubectl/pkg/cmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	_ "github.com/apilab/apilab/shell/kubectl/english"
	"github.com/apilab/apilab/shell/localhost"
	"github.com/apilab/apilab/shell/vfs"
)

// Confinement says what a learner's kubectl may reach. It is passed from the shell in the environment variable Variable.
type Confinement struct {
	Home    string            `json:"home"`  // real folder
	Ports   string            `json:"ports"` // folder of the learner's localhost
	Gateway string            `json:"gateway"`
	Pipes   string            `json:"pipes,omitempty"`
	Files   map[string]string `json:"files,omitempty"` // virtual name → real path that may be read
	Bin     string            `json:"bin"`             // folder with this program as "editor" and "shell"
	Dir     string            `json:"dir"`             // virtual working folder
	Control string            `json:"-"`               // socket of the editor, for the editor's environment
}

// Variable is the environment variable that confines kubectl. The shell sets it after all that a learner may set.
const Variable = "APILAB_CONFINE"

// Main runs kubectl with the words after its name. Without Variable it is an ordinary kubectl.
func Main(args []string) int {
	if words, ok := Waiting(); ok {
		args = words
	}
	text := os.Getenv(Variable)
	if text == "" {
		return execute(cmd.NewDefaultKubectlCommand())
	}
	os.Unsetenv(Variable)
	var c Confinement
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		fmt.Fprintln(os.Stderr, "error: the shell's settings cannot be read:", err)
		return 1
	}
	k, err := newConfined(c)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	return k.run(args)
}

// confined is one run.
type confined struct {
	Confinement
	fs      *vfs.FS
	ports   *localhost.Ports
	streams genericiooptions.IOStreams
}

func newConfined(c Confinement) (*confined, error) {
	v, err := vfs.New(c.Home, vfs.Options{Pipes: c.Pipes, Files: c.Files})
	if err != nil {
		return nil, err
	}
	k := &confined{Confinement: c, fs: v, ports: localhost.New(c.Ports)}
	k.streams = genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	k.streams.ErrOut = &renamed{os.Stderr, v}
	return k, nil
}

// renamed shows the learner's names of files in messages, where kubectl knows the real ones.
type renamed struct {
	io.Writer
	fs *vfs.FS
}

func (r *renamed) Write(p []byte) (int, error) {
	if _, err := io.WriteString(r.Writer, r.fs.Virtual(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Fd lets kubectl ask whether it writes to a terminal.
func (r *renamed) Fd() uintptr { return os.Stderr.Fd() }

func (k *confined) run(args []string) int {
	// A file that grows too large is an error, not the end.
	signal.Ignore(syscall.SIGXFSZ)
	began := time.Now()
	cmdutil.BehaviorOnFatal(func(msg string, code int) {
		if unpublished(args, msg) && time.Since(began) < publishTime {
			time.Sleep(publishPause)
			os.Exit(execute(k.command(args)))
		}
		if msg != "" {
			fmt.Fprintln(os.Stderr, strings.TrimSuffix(explained(k.fs.Virtual(msg)), "\n"))
		}
		os.Exit(code)
	})
	k.logs()
	k.closeDefaults()
	if err := k.environment(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	args, err := k.preferences(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	os.Args = append([]string{"kubectl"}, args...) // which the tree reads, unless preferences have set others
	return execute(k.command(args))
}

// An API server serves a new kind a moment before it publishes its schema, which takes seconds on a busy machine.
const (
	publishTime  = 5 * time.Second
	publishPause = 250 * time.Millisecond
)

// unpublished tells whether explain knows a kind by discovery and does not find its schema. It has printed nothing yet.
func unpublished(args []string, msg string) bool {
	return slices.Contains(args, "explain") &&
		(strings.Contains(msg, "couldn't find resource for ") || strings.Contains(msg, "not found in OpenAPI schema"))
}

// explained adds to a message of kubectl's what a learner can do about it here.
func explained(msg string) string {
	if strings.Contains(msg, "Metrics API not available") {
		return strings.TrimSuffix(msg, "\n") + `: this cluster has no metrics-server, which top asks.
A real node tells what its kubelet measures: kubectl get --raw /api/v1/nodes/NODE/proxy/stats/summary`
	}
	return msg
}

// logs sends what -v has logged through the renaming of files, with no line said twice.
func (k *confined) logs() {
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "one_output": "true", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			panic(err) // a flag of klog's that is there no more
		}
	}
	klog.SetOutput(k.streams.ErrOut)
}

// execute prints an error as kubectl does.
func execute(root *cobra.Command) int {
	if err := cli.RunNoErrOutput(root); err != nil {
		cmdutil.CheckErr(err)
	}
	return 0
}

// command builds kubectl's tree with our checks in it.
func (k *confined) command(args []string) *cobra.Command {
	flags := genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag().WithDiscoveryBurst(300).WithDiscoveryQPS(50)
	flags.WithWrapConfigFn(k.wrap)
	root := cmd.NewKubectlCommand(cmd.KubectlOptions{
		Arguments:   append([]string{"kubectl"}, args...),
		ConfigFlags: flags.WithWarningPrinter(k.streams),
		IOStreams:   k.streams,
	})
	k.replace(root, flags)
	before := root.PersistentPreRunE
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		if c.Name() == cobra.ShellCompRequestCmd {
			// Wherever among the words it was.
			if err := k.completion(args); err != nil {
				os.Exit(1)
			}
		}
		if err := k.vet(c, args); err != nil {
			return err
		}
		withoutSchemas(c)
		return before(c, args)
	}
	return root
}

// withoutSchemas lets apply compute its patches from the types that it is built with, which are of the cluster's version. For
// an object of a definition, the schemas of OpenAPI v2 say no more, and the API server computes all of them anew, for
// seconds, when they are asked for after a change of any definition.
func withoutSchemas(c *cobra.Command) {
	if f := c.Flag("openapi-patch"); f != nil && !f.Changed {
		_ = f.Value.Set("false") // a flag of its own kind
	}
}

// environment checks the variables that name files. The shell passes on only those that kubectl has a use for.
func (k *confined) environment() error {
	os.Setenv("PATH", k.Bin)
	os.Setenv("KUBE_EDITOR", "editor")
	os.Setenv("KUBECTL_EXTERNAL_DIFF", "shell --diff")
	if list := os.Getenv("KUBECONFIG"); list != "" {
		var real []string
		for _, name := range filepath.SplitList(list) {
			if name == "" {
				continue
			}
			r, err := k.file(name)
			if err != nil {
				return err
			}
			real = append(real, r)
		}
		os.Setenv("KUBECONFIG", strings.Join(real, string(filepath.ListSeparator)))
	}
	for _, name := range []string{"KUBERC", "KUBECACHEDIR"} {
		if v := os.Getenv(name); v != "" && v != "off" {
			r, err := k.file(v)
			if err != nil {
				return err
			}
			os.Setenv(name, r)
		}
	}
	return nil
}

// passed are the variables of the learner's that reach kubectl, besides those named KUBECTL_….
var passed = []string{"KUBECONFIG", "KUBERC", "KUBECACHEDIR", "TERM", "LANG", "LC_ALL", "LC_MESSAGES", "NO_COLOR", "COLUMNS", "LINES", "HOME"}

// Environ is the environment for a kubectl process, of a learner's variables.
func (c Confinement) Environ(learner []string) []string {
	var env []string
	for _, kv := range learner {
		name, value, _ := strings.Cut(kv, "=")
		if name == "HOME" {
			continue
		}
		if slices.Contains(passed, name) || strings.HasPrefix(name, "KUBECTL_") && !strings.ContainsAny(value, "/\\") {
			env = append(env, kv)
		}
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // a struct of strings
	}
	return append(env, "HOME="+c.Home, "TMPDIR="+filepath.Join(c.Home, ".tmp"), "PATH="+c.Bin, "APILAB_CONTROL="+c.Control, Variable+"="+string(text))
}

// preferences checks the files of preferences, which kubectl reads before it knows its command.
func (k *confined) preferences(args []string) ([]string, error) {
	args = slices.Clone(args)
	for i, a := range args {
		if a == "--" {
			break
		}
		var err error
		if v, ok := strings.CutPrefix(a, "--kuberc="); ok {
			v, err = k.file(v)
			args[i] = "--kuberc=" + v
		} else if a == "--kuberc" && i+1 < len(args) {
			args[i+1], err = k.file(args[i+1])
		}
		if err != nil {
			return nil, err
		}
	}
	if real, err := k.fs.Real(vfs.Home + "/.kube/kuberc"); err != nil {
		os.Setenv("KUBERC", "off")
	} else if fi, err := os.Stat(real); err == nil && fi.Size() > 1<<20 {
		return nil, errors.New("~/.kube/kuberc is larger than 1 MiB")
	}
	return args, nil
}

// completion checks the words of a completion: kubectl reads files for it too.
func (k *confined) completion(args []string) error {
	if len(args) == 0 {
		return nil
	}
	words := args[:len(args)-1]
	root := k.command(words)
	c, rest, err := root.Find(words)
	if err != nil {
		return nil // an unknown command completes to nothing
	}
	if err := c.ParseFlags(rest); err != nil {
		// The last flag may lack the value that is being completed.
		if err := c.ParseFlags(append(slices.Clone(rest), args[len(args)-1])); err != nil {
			return err // completes to nothing
		}
	}
	return k.vet(c, c.Flags().Args())
}
