// Package streams proves on a real kind cluster that what streams goes through the gateway and the learner's shell: logs,
// exec, attach, port-forward, cp, debug and run. It runs where kind clusters can be made, with APILAB_TEST_KIND=1.
package streams

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apilab/apilab/shell"
)

// TestMain lets the test's own binary be the programs that a shell starts, and a kubectl of the host's.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "shell":
		os.Exit(shell.Main(os.Args[1:]))
	case "kubectl":
		os.Exit(shell.KubectlMain(os.Args[1:]))
	case "editor":
		os.Exit(shell.EditorMain(os.Args[1:]))
	}
	if os.Getenv("APILAB_TEST_KIND") != "1" {
		fmt.Println("test/streams: skipped: it needs a container engine; APILAB_TEST_KIND=1 runs it")
		return
	}
	os.Exit(m.Run())
}
