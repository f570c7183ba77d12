// Package abuse attacks the real binary, bin/apilab or that in APILAB_BIN, as somebody with bad intentions or bad luck would:
// from a learner's shell, from a learner's API server, from a browser, from outside. docs/security.md says which threat each
// test stands for. With -short it leaves out what takes minutes.
package abuse

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// patience bounds every wait. It is long, for busy machines, and only spent when the test fails.
const patience = 4 * time.Minute

// binary is the program under attack. It must be called apilab.
var binary string

func TestMain(m *testing.M) {
	var err error
	if binary, err = filepath.Abs(cmp.Or(os.Getenv("APILAB_BIN"), "../../bin/apilab")); err == nil {
		_, err = os.Stat(binary)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%v: run `make build` first\n", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// slowly is for what takes minutes.
func slowly(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes minutes")
	}
}
