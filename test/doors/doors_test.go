// Package doors guards the import rules between the rooms of the house (docs/architecture.md).
package doors

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/apilab/apilab/"

// doors says which neighbours a room may import. A room is the longest key that is a prefix of a package's folder.
// A room that is not listed may not exist.
var doors = map[string][]string{
	"":                 {"cli", "cluster/embedded", "cluster/kind", "shell"},
	"cli":              {"server", "server/store", "content", "exercises", "checker", "checker/verify", "cluster", "cluster/embedded", "cluster/kind", "gateway", "shell", "assets"},
	"server":           {"server/store", "content", "exercises", "checker", "cluster", "gateway", "shell", "assets"},
	"server/store":     {"exercises", "checker"},
	"checker":          {"exercises", "cluster", "gateway"},
	"checker/verify":   {"checker", "exercises", "cluster", "gateway"},
	"gateway":          {"cluster"},
	"cluster":          {},
	"cluster/embedded": {"cluster"},
	"cluster/kind":     {"cluster"},
	"content":          {},
	"exercises":        {},
	"shell":            {},
	"assets":           {},
	"operator":         {}, // a module of its own
	"test":             {"cluster/kind", "content", "exercises", "checker", "cluster", "gateway", "shell", "server", "server/store", "assets", "cli"},
}

// heavy may be imported by cluster/embedded alone, so that only it pays for the control plane in compile and link time.
const heavy = "k8s.io/kubernetes/"

func TestDoors(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, file := range goFiles(t) {
		dir := path.Dir(file)
		if dir == "." {
			dir = ""
		}
		room := roomOf(dir)
		seen[room] = true
		if room == "" && dir != "" {
			t.Errorf("%s: the folder %s is no room of the house; add it to doors with its neighbours, or move it", file, dir)
			continue
		}
		for _, imported := range imports(t, file) {
			if strings.HasPrefix(imported+"/", heavy) && room != "cluster/embedded" {
				t.Errorf("%s imports %s: only cluster/embedded may", file, imported)
			}
			rest, ours := strings.CutPrefix(imported, module)
			if !ours {
				continue
			}
			if to := roomOf(rest); to != room && !slices.Contains(doors[room], to) {
				t.Errorf("%s imports %s: the room %q has no door to %q", file, imported, room, to)
			}
		}
	}
	for room := range doors {
		if !seen[room] {
			t.Errorf("the room %q is listed and has no Go file", room)
		}
	}
}

// TestRoomOf keeps the longest-prefix rule honest: without it a wrong door would go unseen.
func TestRoomOf(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{
		"cluster": "cluster", "cluster/embedded": "cluster/embedded", "cluster/embedded/pki": "cluster/embedded",
		"clusters": "", "shell/tools": "shell", "server/store/migrations": "server/store",
	} {
		if got := roomOf(dir); got != want {
			t.Errorf("roomOf(%q) = %q, want %q", dir, got, want)
		}
	}
}

func roomOf(dir string) string {
	best := ""
	for room := range doors {
		if (dir == room || strings.HasPrefix(dir, room+"/")) && len(room) > len(best) {
			best = room
		}
	}
	return best
}

func goFiles(t *testing.T) []string {
	t.Helper()
	root := filepath.Join("..", "..")
	var files []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules" || entry.Name() == "testdata"):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go"):
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func imports(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", filepath.FromSlash(file)), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, imported)
	}
	return paths
}
