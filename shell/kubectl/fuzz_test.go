package kubectl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzVet gives any words to kubectl's tree, and checks that no flag or operand that passes the vetting names a file
// outside of the home.
func FuzzVet(f *testing.F) {
	for _, seed := range []string{
		"apply\n-f\n/etc/passwd", "get\nns\n-o\ngo-template-file=/etc/passwd", "create\ncm\nx\n--from-file=k=../../etc/passwd",
		"--kubeconfig=/etc/x\nget\nns", "cp\n/etc/passwd\np:/x", "get\nns\n--profile-output\n/x/y", "apply\n-f\na,/etc/passwd",
		"apply\n-f=/etc/*", "patch\ncm\nx\n--patch-file\n~/x", "kustomize\n..", "apply\n-k\n/", "config\nview\n--flatten",
		"create\nsecret\ntls\nx\n--cert\n/etc/a\n--key=/etc/b", "apply\n-fout/x", "get\n--cache_dir=/etc", "-f\n/etc/passwd\napply",
	} {
		f.Add(seed)
	}
	k := newTestConfined(f)
	k.Bin = f.TempDir()
	if err := os.Symlink("/etc", filepath.Join(k.Home, "out")); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(k.Home, "a"), nil, 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, words string) {
		args := strings.Split(words, "\n")
		if len(args) > 40 {
			return
		}
		root := k.command(args)
		c, rest, err := root.Find(args)
		if err != nil || c.DisableFlagParsing {
			return
		}
		if err := c.ParseFlags(rest); err != nil {
			return
		}
		operands := c.Flags().Args()
		if k.vet(c, operands) != nil {
			return
		}
		for _, name := range named(c, operands) {
			if name == "" || name == "-" || strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") || strings.HasPrefix(name, "/dev/") {
				continue
			}
			if !filepath.IsAbs(name) {
				name = filepath.Join(k.Home, name)
			}
			if rel, err := filepath.Rel(k.Home, name); err != nil || !filepath.IsLocal(rel) {
				t.Errorf("%q passes with %q", args, name)
			}
			if real, err := filepath.EvalSymlinks(name); err == nil && real != k.Home && !strings.HasPrefix(real, k.Home+"/") {
				t.Errorf("%q passes with %q, which is %q", args, name, real)
			}
		}
	})
}
