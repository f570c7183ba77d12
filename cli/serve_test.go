package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestGreetingNamesTheDataDirectoryWhereItHasTo(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_DATA_HOME", home)
	usual := greeting("v1", "127.0.0.1:1", "http://link", filepath.Join(home, "apilab"))
	if strings.Contains(usual, "data-dir") || strings.Contains(usual, home) {
		t.Errorf("the default data directory is named:\n%s", usual)
	}
	other := greeting("v1", "127.0.0.1:1", "http://link", "/my data")
	for _, want := range []string{"`apilab open --data-dir '/my data'`", "apilab kubeconfig --data-dir '/my data' -o apilab.yaml &&", "are kept in /my data\n"} {
		if !strings.Contains(other, want) {
			t.Errorf("no %q in\n%s", want, other)
		}
	}
}
