package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// kubectl writes files by itself (cluster-info dump, config set): what it writes beyond the quota is its last.
func TestKubectlKeepsToTheQuota(t *testing.T) {
	t.Parallel()
	o := newOptions(t)
	o.Quota = 1 << 20
	fill := func(size int64) {
		t.Helper()
		if err := os.MkdirAll(o.Home, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(o.Home, "big"), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const says = "kubectl: no space left: your home may hold 1 MiB"

	fill(2 << 20)
	if out, exit := script(t, o, "kubectl version --client"); exit == 0 || !strings.Contains(out, says) || strings.Contains(out, "Client Version") {
		t.Errorf("in a full home: %d %q", exit, out)
	}
	fill(0)
	time.AfterFunc(time.Second, func() { fill(2 << 20) })
	if out, exit := script(t, o, "kubectl proxy --port 7001"); exit == 0 || !strings.Contains(out, says) {
		t.Errorf("while the home gets full: %d %q", exit, out)
	}
	if out, exit := script(t, o, "rm big; kubectl version --client"); exit != 0 {
		t.Errorf("when there is room again: %d %q", exit, out)
	}
}
