package doors

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDependenciesHaveAReason compares docs/dependencies.md with what is required: each direct dependency is named in the first
// column of a table, and nothing else is.
func TestDependenciesHaveAReason(t *testing.T) {
	t.Parallel()
	used := slices.Concat(required(t, "go.mod"), required(t, "operator/go.mod"), packages(t, "assets/package.json"))
	named := namedDependencies(read(t, "docs/dependencies.md"))
	if len(used) < 50 || len(named) < 30 {
		t.Fatalf("found only %d dependencies and %d names: are they still written as they were?", len(used), len(named))
	}
	for _, dependency := range used {
		if !slices.ContainsFunc(named, func(name string) bool { return names(name, dependency) }) {
			t.Errorf("%s is a direct dependency and docs/dependencies.md does not say why", dependency)
		}
	}
	for _, name := range named {
		if !slices.ContainsFunc(used, func(dependency string) bool { return names(name, dependency) }) {
			t.Errorf("docs/dependencies.md gives a reason for %s, which is no direct dependency", name)
		}
	}
}

var majorVersion = regexp.MustCompile(`/v[0-9]+$`)

// names reports whether a name in the list stands for a dependency: "spf13/cobra" on GitHub, "k8s.io/*" for many, with or
// without the major version.
func names(name, dependency string) bool {
	if start, many := strings.CutSuffix(name, "*"); many {
		return strings.HasPrefix(dependency, start)
	}
	bare := majorVersion.ReplaceAllString(dependency, "")
	return slices.Contains([]string{dependency, bare, strings.TrimPrefix(dependency, "github.com/"), strings.TrimPrefix(bare, "github.com/")}, name)
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, dependency string
		want             bool
	}{
		{"spf13/cobra", "github.com/spf13/cobra", true}, {"labstack/echo/v4", "github.com/labstack/echo/v4", true}, {"labstack/echo", "github.com/labstack/echo/v4", true},
		{"k8s.io/*", "k8s.io/client-go", true}, {"@xterm/*", "@xterm/addon-fit", true}, {"lit", "lit", true},
		{"lit", "split", false}, {"k8s.io/*", "sigs.k8s.io/kind", false}, {"labstack/echo/v4", "github.com/labstack/echo/v5", false},
	} {
		if got := names(tt.name, tt.dependency); got != tt.want {
			t.Errorf("names(%q, %q) = %v", tt.name, tt.dependency, got)
		}
	}
}

var requirement = regexp.MustCompile(`(?m)^(?:require )?\t?(\S+\.\S+) v\S+$`) // an indirect one has a comment behind it

func required(t *testing.T, file string) []string {
	t.Helper()
	var modules []string
	for _, found := range requirement.FindAllStringSubmatch(read(t, file), -1) {
		modules = append(modules, found[1])
	}
	return modules
}

func packages(t *testing.T, file string) []string {
	t.Helper()
	var p struct{ Dependencies, DevDependencies map[string]string }
	if err := json.Unmarshal([]byte(read(t, file)), &p); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return slices.Concat(slices.Collect(maps.Keys(p.Dependencies)), slices.Collect(maps.Keys(p.DevDependencies)))
}

var (
	firstCell = regexp.MustCompile(`(?m)^\| ([^|]*) \|`)
	codeSpan  = regexp.MustCompile("`([^`]+)`")
)

// namedDependencies are those in the first cells of tables. What is only run is in no file of requirements.
func namedDependencies(text string) []string {
	var named []string
	for _, cell := range firstCell.FindAllStringSubmatch(text, -1) {
		if strings.Contains(cell[1], "run, not linked") {
			continue
		}
		for _, span := range codeSpan.FindAllStringSubmatch(cell[1], -1) {
			named = append(named, span[1])
		}
	}
	return named
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
