package kubectl

import (
	"strings"
	"testing"

	"github.com/apilab/apilab/shell/tools"
	"github.com/apilab/apilab/shell/vfs"
)

func TestProcessesAreBounded(t *testing.T) {
	t.Parallel()
	home, err := vfs.New(t.TempDir(), vfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer home.Close()
	l := &Launcher{FS: home}
	l.running.Store(maxRunning)
	var said strings.Builder
	if status := l.Run(t.Context(), &tools.Call{Stderr: &said}, true); status == 0 || !strings.Contains(said.String(), "wait until some have ended") {
		t.Errorf("one too many: %d %q", status, said.String())
	}
	if n := l.running.Load(); n != maxRunning {
		t.Errorf("%d are counted after that", n)
	}
}
