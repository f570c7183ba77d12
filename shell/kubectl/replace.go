package kubectl

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/build"

	"github.com/apilab/apilab/shell/vfs"
)

// replace puts our own implementations under commands that listen, run programs or walk files by themselves.
func (k *confined) replace(root *cobra.Command, flags *genericclioptions.ConfigFlags) {
	f := cmdutil.NewFactory(cmdutil.NewMatchVersionFlags(flags))
	for _, c := range root.Commands() {
		switch c.Name() {
		case "proxy":
			c.Run = func(c *cobra.Command, _ []string) { cmdutil.CheckErr(k.proxy(f, c)) }
		case "port-forward":
			c.Run = func(c *cobra.Command, args []string) { cmdutil.CheckErr(k.portForward(f, c, args)) }
		case "kustomize":
			// The command keeps its flags in variables of its package, so that another one's function finds them.
			c.RunE = build.NewCmdBuild(kustomizeFS{k.fs, k.Dir}, build.MakeHelp("kubectl", "kustomize"), k.streams.Out).RunE
		case "exec", "attach", "cp", "run", "debug":
			run := c.Run
			c.Run = func(c *cobra.Command, args []string) {
				if conf, err := f.ToRESTConfig(); err == nil && attaches(c) {
					cmdutil.CheckErr(k.upgrades(conf))
				}
				run(c, args)
			}
		}
	}
}

// attaches reports whether a command will upgrade a connection: run and debug do where they are asked to.
func attaches(c *cobra.Command) bool {
	if c.Name() != "run" && c.Name() != "debug" {
		return true
	}
	for _, name := range []string{"stdin", "attach"} {
		if asked, err := c.Flags().GetBool(name); err == nil && asked {
			return true
		}
	}
	return false
}

// kustomize builds -k's folder itself, from the learner's files alone, and hands the result to kubectl as -f - .
// kubectl would read any file of the machine that a kustomization names.
func (k *confined) kustomize(c *cobra.Command, f *pflag.Flag, dir string) error {
	sources := c.Flag("filename")
	if sources == nil {
		return nil
	}
	if files, ok := sources.Value.(pflag.SliceValue); ok && len(files.GetSlice()) > 0 {
		return nil // kubectl refuses both
	}
	res, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(kustomizeFS{k.fs, k.Dir}, vfs.Abs(k.Dir, dir))
	if err != nil {
		return err
	}
	text, err := res.AsYaml()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	go func() {
		w.Write(text)
		w.Close()
	}()
	os.Stdin = r
	if err := f.Value.Set(""); err != nil {
		return err
	}
	return sources.Value.Set("-")
}
