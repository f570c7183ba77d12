package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const (
	first  = "-- a --\none\n-- dir/b --\ntwo\n-- dir/c --\nthree\n"
	second = "-- a --\nONE\n-- dir/b --\nTWO\n-- dir/c --\nTHREE\n"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func has(t *testing.T, dir, name, want string) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
		t.Errorf("%s is %q (%v); want %q", name, got, err, want)
	}
}

func TestLayOutAgainKeepsWhatWasChanged(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "project")
	if layout, err := layOut(dir, []byte(first), false); err != nil || !slices.Equal(layout.Written, []string{"a", "dir/b", "dir/c"}) {
		t.Fatalf("%+v, %v", layout, err)
	}
	write(t, dir, "dir/b", "mine")
	write(t, dir, "mine", "too")
	if err := os.Remove(filepath.Join(dir, "dir/c")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // and again, which changes nothing more
		layout, err := layOut(dir, []byte(second), false)
		if err != nil || !slices.Equal(layout.Kept, []string{"dir/b"}) {
			t.Fatalf("%+v, %v", layout, err)
		}
		has(t, dir, "a", "ONE\n")
		has(t, dir, "dir/b", "mine")
		has(t, dir, "dir/c", "THREE\n")
		has(t, dir, "mine", "too")
	}
}

func TestForeignFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a", "theirs")
	if _, err := layOut(dir, []byte(first), false); !errors.Is(err, ErrForeign) {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("it left %v", entries)
	}
	layout, err := layOut(dir, []byte(first), true)
	if err != nil || !slices.Equal(layout.Kept, []string{"a"}) {
		t.Fatalf("%+v, %v", layout, err)
	}
	has(t, dir, "a", "theirs")
	if _, err := layOut(dir, []byte(second), true); err != nil {
		t.Fatal(err)
	}
	has(t, dir, "a", "theirs")
	has(t, dir, "dir/b", "TWO\n")
}

func TestLinksOutOfTheFolderAreNotFollowed(t *testing.T) {
	t.Parallel()
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "dir")); err != nil {
		t.Skip(err)
	}
	if _, err := layOut(dir, []byte(first), true); err == nil {
		t.Error("it wrote through a link")
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("it wrote %v outside", entries)
	}
}

func TestKubeconfigIsPrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, Kubeconfig), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteKubeconfig(dir, []byte("new")); err != nil {
		t.Fatal(err)
	}
	has(t, dir, Kubeconfig, "new")
	if info, err := os.Stat(filepath.Join(dir, Kubeconfig)); err != nil || info.Mode().Perm() != fs.FileMode(0o600) {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
