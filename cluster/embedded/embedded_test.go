package embedded_test

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/embedded"
)

// TestMain lets the test binary be its own control plane, as apilab is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == embedded.Command {
		os.Exit(embedded.Main(context.Background(), os.Args[2:]))
	}
	os.Exit(m.Run())
}

func newProvider(t *testing.T, dir string) *embedded.Provider {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := embedded.New(embedded.Options{Dir: dir, Executable: executable, Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSmoke(t *testing.T) {
	p := newProvider(t, t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	start := time.Now()
	c, err := p.Create(ctx, cluster.Spec{ID: "local"}, func(p cluster.Phase) { t.Log(time.Since(start).Round(time.Millisecond), p) })
	if err != nil {
		t.Fatal(err)
	}
	t.Log("ready", time.Since(start))
	time.Sleep(8 * time.Second)
	a, _ := c.Usage(ctx)
	time.Sleep(20 * time.Second)
	b, err := c.Usage(ctx)
	t.Logf("private %d MB pss %d MB disk %d MB cpu %.2f%% %v", b.PrivateBytes>>20, b.PSSBytes>>20, b.DiskBytes>>20, 100*(b.CPU-a.CPU).Seconds()/20, err)
	start = time.Now()
	if err := c.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	t.Log("stopped", time.Since(start))
	start = time.Now()
	if _, err = p.Adopt(ctx, cluster.Spec{ID: "local"}, func(p cluster.Phase) { t.Log(time.Since(start).Round(time.Millisecond), p) }); err != nil {
		t.Fatal(err)
	}
	t.Log("ready again", time.Since(start))
	if err := p.Delete(ctx, "local"); err != nil {
		t.Fatal(err)
	}
}
