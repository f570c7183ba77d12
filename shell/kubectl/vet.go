package kubectl

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/apilab/apilab/shell/vfs"
)

// A kind says what a flag's value names.
type kind int

const (
	harmless    kind = iota
	file             // a file or folder
	source           // files, folders, URLs or "-": -f
	kustomized       // a folder: -k
	keyed            // files or folders, each perhaps as key=FILE
	output           // an output format, of which some name a file
	template         // a file, if the output format says so
	unsupported      // refused: it would run programs
	ours             // a file that our own implementation opens, in the learner's files
)

// kinds of flags by their names, in all commands that have them. TestFlagsAreKnown knows all others to be harmless.
var kinds = map[string]kind{
	"kubeconfig": file, "kuberc": file, "cache-dir": file, "certificate-authority": file, "client-certificate": file, "client-key": file,
	"profile-output": file, "patch-file": file, "from-env-file": file, "cert": file, "key": file, "custom": file, "output-directory": file,
	"www":      file,
	"filename": source, "kustomize": kustomized, "from-file": keyed, "output": output, "template": template,
	"unix-socket": unsupported, "enable-helm": unsupported, "helm-command": unsupported, "enable-alpha-plugins": unsupported, "enable-exec": unsupported,
	"mount": unsupported, "network": unsupported, "network-name": unsupported, "as-current-user": unsupported,
}

// kindOf knows the names that mean different things in different commands.
func kindOf(c *cobra.Command, flag string) kind {
	switch c.CommandPath() + " --" + flag {
	case "kubectl kustomize --output":
		return ours
	}
	return kinds[flag]
}

// absent is the error for a file that the learner does not have, in kubectl's words.
func absent(name string) error { return fmt.Errorf("the path %q does not exist", name) }

// file returns the real path of a file as typed. It is relative to the working folder where that is shorter, so that
// messages show what was typed.
func (k *confined) file(name string) (string, error) {
	real, err := k.fs.Real(vfs.Abs(k.Dir, name))
	if err != nil {
		return "", absent(name)
	}
	if !filepath.IsAbs(name) && filepath.IsLocal(name) {
		return name, nil
	}
	return real, nil
}

// tree is file, for what is walked: all symlinks below it are checked too.
func (k *confined) tree(name string) (string, error) {
	real, err := k.file(name)
	if err != nil {
		return "", err
	}
	abs := vfs.Abs(k.Dir, name)
	if fi, err := k.fs.Stat(abs); err == nil && fi.IsDir() {
		if err := k.fs.Check(abs); err != nil {
			var pe *fs.PathError
			if errors.As(err, &pe) {
				return "", absent(pe.Path)
			}
			return "", err
		}
	}
	return real, nil
}

// vet checks a command's flags and operands as it is about to run, with the defaults that a kuberc has set, and puts
// real paths in place of the learner's.
func (k *confined) vet(c *cobra.Command, args []string) error {
	var err error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if err == nil {
			err = k.flag(c, f)
		}
	})
	if err != nil {
		return err
	}
	if err := k.operands(c, args); err != nil {
		return err
	}
	return k.kubeconfigs(c)
}

func (k *confined) flag(c *cobra.Command, f *pflag.Flag) error {
	what := kindOf(c, f.Name)
	text := f.Value.String()
	if slice, ok := f.Value.(pflag.SliceValue); ok && what != harmless {
		values := slice.GetSlice()
		for i, v := range values {
			r, err := k.value(c, what, v)
			if err != nil {
				return err
			}
			values[i] = r
		}
		if len(values) == 0 {
			return nil
		}
		return slice.Replace(values)
	}
	if what == harmless || what == ours || text == "" {
		return nil
	}
	if what == unsupported {
		if !f.Changed && text == f.DefValue {
			return nil
		}
		return fmt.Errorf("--%s is not available in this shell", f.Name)
	}
	if f.Name == "cache-dir" && !f.Changed {
		_, err := k.file(text) // in the home, kubectl knows it by its real path
		return err
	}
	if what == kustomized {
		return k.kustomize(c, f, text)
	}
	if what == template {
		format := c.Flag("output")
		if format == nil || !strings.HasSuffix(format.Value.String(), "file") {
			return nil
		}
		what = file
	}
	v, err := k.value(c, what, text)
	if err != nil || v == text {
		return err
	}
	return f.Value.Set(v)
}

// value rewrites one value.
func (k *confined) value(c *cobra.Command, what kind, v string) (string, error) {
	switch what {
	case file:
		return k.file(v)
	case source:
		if v == "-" {
			return v, nil
		}
		if strings.HasPrefix(v, "http://") || strings.HasPrefix(v, "https://") {
			return v, nil // dialled as all others; whatever else kubectl takes for a file
		}
		if strings.ContainsAny(v, "*?[") {
			return k.glob(v)
		}
		return k.tree(v)
	case keyed:
		key, name, ok := strings.Cut(v, "=")
		if !ok {
			key, name = "", v
		}
		r, err := k.tree(name)
		if err != nil {
			return "", fmt.Errorf("error reading %s: no such file or directory", name)
		}
		if ok {
			return key + "=" + r, nil
		}
		return r, nil
	case output:
		format, name, ok := strings.Cut(v, "=")
		if !ok || !strings.HasSuffix(format, "file") {
			return v, nil
		}
		r, err := k.file(name)
		return format + "=" + r, err
	}
	return v, nil
}

// glob checks what kubectl will expand: a pattern in the learner's files, whose matches stay in them.
func (k *confined) glob(pattern string) (string, error) {
	dir, base := filepath.Split(vfs.Abs(k.Dir, pattern))
	if strings.ContainsAny(dir, "*?[") {
		return "", fmt.Errorf("a pattern may only be in the last part of %q", pattern)
	}
	real, err := k.fs.Real(filepath.Clean(dir))
	if err != nil {
		return "", absent(pattern)
	}
	if err := k.fs.Check(filepath.Clean(dir)); err != nil {
		return "", absent(pattern)
	}
	return filepath.Join(real, base), nil
}

// operands checks the words that are files.
func (k *confined) operands(c *cobra.Command, args []string) error {
	if c.CommandPath() == "kubectl cp" {
		for i, a := range args {
			if strings.Contains(a, ":") {
				continue // NAMESPACE/POD:FILE
			}
			r, err := k.tree(a)
			if err != nil {
				return err
			}
			args[i] = r
		}
	}
	return nil
}
