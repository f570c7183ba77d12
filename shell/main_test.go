package shell

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMain lets the test's own binary be the programs that a shell starts.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "shell":
		os.Exit(Main(os.Args[1:]))
	case "kubectl":
		os.Exit(KubectlMain(os.Args[1:]))
	case "editor":
		os.Exit(EditorMain(os.Args[1:]))
	}
	os.Exit(m.Run())
}
