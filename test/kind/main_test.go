// Package kind plays with the real binary what takes a container engine: the life of a learner's kind cluster, images for it,
// mistakes, and that nothing is left behind. `make test-kind` runs it.
package kind

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apilab/apilab/cluster/kind"
)

// patience bounds every wait: a node starts within half a minute, on a busy machine within minutes.
const patience = 6 * time.Minute

var (
	binary string
	engine kind.Engine
)

func TestMain(m *testing.M) {
	if os.Getenv("APILAB_TEST_KIND") != "1" {
		fmt.Println("test/kind: skipped: it needs a container engine; make test-kind runs it")
		return
	}
	if err := setUp(); err != nil {
		fmt.Fprintln(os.Stderr, "test/kind:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func setUp() (err error) {
	if binary, err = filepath.Abs(cmp.Or(os.Getenv("APILAB_BIN"), "../../bin/apilab")); err != nil {
		return err
	}
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("%w: run `make build` first", err)
	}
	engine, err = kind.Detect(context.Background())
	return err
}
