package embedded_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/embedded"
	"github.com/apilab/apilab/cluster/embedded/process"
)

// serverCommand makes the test binary a server that has one cluster, for tests of the server's own death.
const serverCommand = "test-server"

// orphanCommand makes the test binary a process that holds a cluster's lock and has no parent to die with.
const orphanCommand = "test-orphan"

// TestMain lets the test binary be its own control plane, as apilab is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case embedded.Command:
			os.Exit(embedded.Main(context.Background(), os.Args[2:]))
		case serverCommand:
			os.Exit(serve(os.Args[2]))
		case orphanCommand:
			if _, err := process.Lock(os.Args[2]); err != nil {
				os.Exit(1)
			}
			fmt.Println("locked")
			time.Sleep(time.Hour) // where nothing waits for anything, Go calls it a deadlock, and ends
		}
	}
	os.Exit(m.Run())
}

const patience = 3 * time.Minute // machines that run tests are busy

// newProvider returns a provider on dir whose clusters are stopped when the test ends.
func newProvider(t *testing.T, dir string) *embedded.Provider {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))
	p, err := embedded.New(embedded.Options{
		Dir:        filepath.Join(dir, "clusters"),
		Templates:  filepath.Join(dir, "templates"),
		Executable: executable,
		Logger:     log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// within bounds a step of a test.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func quiet(cluster.Phase) {}
