package kind

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// node is what kind calls the container of the local learner's cluster.
const node = "apilab-local-control-plane"

// engineSays returns what a command of the engine prints.
func engineSays(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(string(engine), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", engine, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// inventory lists what an engine has of clusters: containers, volumes, and networks but for kind's own, which it keeps for
// all its clusters.
func inventory(t *testing.T) []string {
	t.Helper()
	var all []string
	for what, list := range map[string][]string{
		"container": {"ps", "--all", "--format", "{{.Names}}"},
		"volume":    {"volume", "ls", "--format", "{{.Name}}"},
		"network":   {"network", "ls", "--format", "{{.Name}}"},
	} {
		for _, name := range strings.Fields(engineSays(t, list...)) {
			if name != "kind" {
				all = append(all, what+" "+name)
			}
		}
	}
	slices.Sort(all)
	return all
}

// leavesNothing fails the test if it leaves anything behind: in the engine, or of clusters in a data directory.
func leavesNothing(t *testing.T, dir string) {
	t.Helper()
	before := inventory(t)
	t.Cleanup(func() {
		if after := inventory(t); !slices.Equal(after, before) {
			t.Errorf("left behind: %v; there were %v", after, before)
		}
		if left := clusterFiles(t, dir); len(left) > 0 {
			t.Errorf("left behind in the data directory: %v", left)
		}
	})
}

// clusterFiles lists the files of kind clusters in a data directory.
func clusterFiles(t *testing.T, dir string) (files []string) {
	t.Helper()
	root := filepath.Join(dir, "kind")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && path != root {
			files = append(files, strings.TrimPrefix(path, root))
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return files
}
