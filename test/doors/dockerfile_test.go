package doors

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDockerfileFitsTheRepository checks what goes out of date without anybody noticing where no image is built: versions,
// files that are copied, the target and the arguments.
func TestDockerfileFitsTheRepository(t *testing.T) {
	t.Parallel()
	file := read(t, "Dockerfile")
	first := func(pattern, text string) string {
		t.Helper()
		found := regexp.MustCompile(`(?m)` + pattern).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("nothing is like %s", pattern)
		}
		return found[1]
	}
	if image, module := first(`^FROM golang:(\d+\.\d+)-`, file), first(`^go (\d+\.\d+)`, read(t, "go.mod")); image != module {
		t.Errorf("it builds with Go %s; go.mod wants %s", image, module)
	}
	if image, least := first(`^FROM node:(\d+)-`, file), first(`"node": ">=(\d+)`, read(t, "assets/package.json")); len(image) < len(least) || image < least {
		t.Errorf("it builds with Node %s; package.json wants at least %s", image, least)
	}
	ignored := strings.Fields(read(t, ".dockerignore"))
	for _, line := range regexp.MustCompile(`(?m)^COPY ([^-\n].*) \S+$`).FindAllStringSubmatch(file, -1) {
		for source := range strings.FieldsSeq(line[1]) {
			if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(source))); err != nil {
				t.Errorf("it copies %s: %v", source, err)
			}
			for _, out := range ignored {
				if source == out || strings.HasPrefix(source, out+"/") {
					t.Errorf("it copies %s, which .dockerignore leaves out", source)
				}
			}
		}
	}
	if target := first(`make (\w+) VERSION=`, file); !strings.Contains(read(t, "Makefile"), "\n"+target+":") {
		t.Errorf("there is no target %s in the Makefile", target)
	}
	if binary := first(`^COPY --from=build /src/(\S+) /apilab$`, file); !strings.Contains(read(t, "Makefile"), "BIN := "+binary+"\n") {
		t.Errorf("it takes %s, which is not what make builds", binary)
	}
}
