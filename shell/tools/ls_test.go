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
