package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenMakesAPrivateFolder(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]os.FileMode{"absent": 0, "open to others": 0o755} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a", "b")
			if before != 0 {
				if err := os.MkdirAll(path, before); err != nil {
					t.Fatal(err)
				}
			}
			d, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if entries, _ := filepath.Glob(filepath.Join(path, ".probe*")); entries != nil {
				t.Errorf("left behind: %v", entries)
			}
		})
	}
}

func TestOneProcessAtATime(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	first, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	second := func() *InUseError {
		t.Helper()
		_, err := Open(path)
		var inUse *InUseError
		if !errors.As(err, &inUse) {
			t.Fatalf("second Open: %v", err)
		}
		return inUse
	}
	if e := second(); e.Holder.Address != "" || !strings.Contains(e.Error(), "already starting") {
		t.Errorf("while it starts: %v", e)
	}
	if err := first.Announce("http://127.0.0.1:8000/a-long-address"); err != nil {
		t.Fatal(err)
	}
	if err := first.Announce("http://127.0.0.1:9000"); err != nil {
		t.Fatal(err)
	}
	e := second()
	if e.Holder != (Holder{os.Getpid(), "http://127.0.0.1:9000"}) || !strings.Contains(e.Error(), "http://127.0.0.1:9000") {
		t.Errorf("while it runs: %+v", e)
	}
	if h, ok, err := HolderOf(path); !ok || err != nil || h != e.Holder {
		t.Errorf("HolderOf: %+v, %v, %v", h, ok, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := HolderOf(path); ok || err != nil {
		t.Errorf("HolderOf after Close: %v, %v", ok, err)
	}
	if err := Check(path); err != nil {
		t.Errorf("Check: %v", err)
	}
	third, err := Open(path)
	if err != nil {
		t.Fatalf("after Close: %v", err)
	}
	third.Close()
}

func TestNothingThereYet(t *testing.T) {
	t.Parallel()
	if err := Check(t.TempDir()); err != nil {
		t.Errorf("Check: %v", err)
	}
	if _, ok, err := HolderOf(filepath.Join(t.TempDir(), "absent")); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		prepare func(t *testing.T, path string)
		want    string
	}{
		"a file in its place": {func(t *testing.T, path string) { write(t, path, "x") }, "is not a folder"},
		"a file above it": {func(t *testing.T, path string) {
			write(t, filepath.Dir(path), "x")
		}, "is not a folder"},
		"newer":   {func(t *testing.T, path string) { write(t, filepath.Join(path, formatFile), "2\n") }, "written by a newer apilab (format 2, this version knows 1)"},
		"damaged": {func(t *testing.T, path string) { write(t, filepath.Join(path, formatFile), "") }, "is damaged"},
		"no permission": {func(t *testing.T, path string) {
			if os.Getuid() == 0 {
				t.Skip("root may do anything")
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o500); err != nil {
				t.Fatal(err)
			}
		}, "cannot be used with your rights"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "parent", "data")
			tt.prepare(t, path)
			for call, open := range map[string]func() error{
				"Check": func() error { return Check(path) },
				"Open":  func() error { _, err := Open(path); return err },
			} {
				err := open()
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %v, want %q", call, err, tt.want)
				}
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDefault(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", "/data")
	if got, err := Default(); err != nil || got != "/data/apilab" {
		t.Errorf("%q, %v", got, err)
	}
	t.Setenv("XDG_DATA_HOME", "relative is to be ignored")
	t.Setenv("HOME", "/home/ada")
	if got, err := Default(); err != nil || !strings.HasPrefix(got, "/home/ada/") {
		t.Errorf("%q, %v", got, err)
	}
}
