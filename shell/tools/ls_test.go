package tools

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apilab/apilab/shell/vfs"
)

func TestLongListBeginsWithTotal(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	v, err := vfs.New(home, vfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := os.WriteFile(filepath.Join(home, "f"), make([]byte, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{"-l": "total 8\n-rw", "-lh": "total 8.0K\n-rw", "-l f": "-rw", "-1": "f\n"} {
		var out bytes.Buffer
		tool, _ := Lookup("ls")
		tool.Call(context.Background(), &Call{Name: "ls", Args: strings.Fields(args), Dir: vfs.Home, Stdout: &out, Stderr: &out, Host: &Host{FS: v}})
		if !strings.HasPrefix(out.String(), want) {
			t.Errorf("ls %s: got %q", args, out.String())
		}
	}
}

func TestTreeCounts(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	v, err := vfs.New(home, vfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	tree := func() string {
		var out bytes.Buffer
		tool, _ := Lookup("tree")
		tool.Call(t.Context(), &Call{Name: "tree", Dir: vfs.Home, Stdout: &out, Stderr: &out, Host: &Host{FS: v}})
		_, said, _ := strings.Cut(out.String(), "\n\n")
		return said
	}
	if err := os.MkdirAll(filepath.Join(home, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for n, want := range []string{"1 directory, 0 files\n", "1 directory, 1 file\n", "1 directory, 2 files\n"} {
		if got := tree(); got != want {
			t.Errorf("got %q; want %q", got, want)
		}
		if err := os.WriteFile(filepath.Join(home, strings.Repeat("f", n+1)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
