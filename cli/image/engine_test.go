package image

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSave has scripts in the place of engines: a fake at the seam of a process.
func TestSave(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ script, want string }{
		"has it":    {`case "$1" in image) exit 0;; esac; while [ $# -gt 0 ]; do [ "$1" = -o ] && echo saved >"$2"; shift; done`, ""},
		"has none":  {`echo "Error: app:v1: image not known" >&2; exit 125`, "has no image app:v1: `"},
		"is not up": {`echo warning >&2; echo "Cannot connect to the Docker daemon" >&2; exit 1`, "image: exit status 1: Cannot connect to the Docker daemon"},
		"disk full": {`case "$1" in image) exit 0;; esac; echo "write: no space left on device" >&2; exit 1`, "save the image app:v1: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine := filepath.Join(t.TempDir(), "engine")
			if err := os.WriteFile(engine, []byte("#!/bin/sh\n"+tt.script), 0o755); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "image.tar")
			err := Save(t.Context(), engine, "app:v1", file)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v; want %q", err, tt.want)
				}
				return
			}
			if saved, _ := os.ReadFile(file); err != nil || string(saved) != "saved\n" {
				t.Errorf("saved %q, %v", saved, err)
			}
		})
	}
}
