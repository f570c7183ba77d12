package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/apilab/apilab/cli/bench/figures"
)

func TestWriteTable(t *testing.T) {
	t.Parallel()
	r := &Report{Time: time.Unix(0, 0), Machine: figures.Machine{System: "linux/amd64", CPUs: 2, MemoryBytes: 24 << 30}, backend: embedded}
	r.add("start", "s", 3, 2.456)
	r.add("CPU", "%", 0.2, 1)
	r.add("disk", "MiB", 0, 1234.5)
	r.backend = kind
	r.add("memory", "MiB", 80, 460)
	var text strings.Builder
	if err := r.WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	if goal := r.Figures[3].Goal; goal != 0 {
		t.Errorf("a kind cluster has the goal %v", goal)
	}
	for _, want := range []string{"linux/amd64, 2 CPUs (24 GiB of memory)", "2.46", "≤ 3", "reached", "≤ 0.20", "missed", "1234", "kind"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}
