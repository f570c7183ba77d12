package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/apilab/apilab/shell"
)

// TestMain lets the test's own binary be the programs that a shell starts.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "shell":
		os.Exit(shell.Main(os.Args[1:]))
	case "kubectl":
		os.Exit(shell.KubectlMain(os.Args[1:]))
	case "editor":
		os.Exit(shell.EditorMain(os.Args[1:]))
	}
	os.Exit(m.Run())
}
