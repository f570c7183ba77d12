package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func newFS(t testing.TB, o Options) (*FS, string) {
	t.Helper()
	base, err := os.MkdirTemp("/var/tmp", "apilab-vfs-") // /tmp is another folder in the view
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	home := filepath.Join(base, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "secret"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := New(home, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, home
}

func TestView(t *testing.T) {
	t.Parallel()
	f, home := newFS(t, Options{})
	if err := f.WriteFile(Home+"/a", []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteFile(Temp+"/b", []byte("two"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		Home + "/a": "one", Temp + "/b": "two", Home + "/../learner/a": "one", "/home/../tmp/b": "two", home + "/a": "one", "//home/learner//a": "one", "/dev/null": "",
	} {
		if b, err := f.ReadFile(name, 100); err != nil || string(b) != want {
			t.Errorf("%s: %q %v", name, b, err)
		}
	}
	for dir, want := range map[string]string{"/": "dev home tmp", "/home": "learner", Home: ".tmp a", Temp: "b"} {
		entries, err := f.ReadDir(dir)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%s: %q %v", dir, got, err)
		}
	}
	for _, name := range []string{"/etc", "/etc/passwd", "/proc/self/environ", "/home/other", home + "/../secret", filepath.Dir(home), "/dev/sda", "/dev/../etc/passwd", "", "..", "/home/learnerx"} {
		if _, err := f.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("stat %q: %v", name, err)
		}
		if _, err := f.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open %q: %v", name, err)
		}
		if _, err := f.Real(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("real %q: %v", name, err)
		}
		if err := f.WriteFile(name, nil, 0o644); err == nil {
			t.Errorf("wrote %q", name)
		}
	}
	for name, do := range map[string]func() error{
		"remove home": func() error { return f.RemoveAll(Home) }, "remove tmp": func() error { return f.RemoveAll(Temp) }, "remove root": func() error { return f.RemoveAll("/") },
		"mkdir root": func() error { return f.Mkdir("/x", 0o755) }, "chmod home's parent": func() error { return f.Chmod("/home", 0o777) },
		"rename home": func() error { return f.Rename(Home, Temp+"/x") }, "rename to root": func() error { return f.Rename(Home+"/a", "/a") },
	} {
		if err := do(); err == nil {
			t.Errorf("%s works", name)
		}
	}
	if got := f.Virtual("open " + home + "/a and " + filepath.Join(home, ".tmp", "x")); got != "open /home/learner/a and /tmp/x" {
		t.Errorf("got %q", got)
	}
}

func TestSymlinks(t *testing.T) {
	t.Parallel()
	f, home := newFS(t, Options{})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(f.WriteFile(Home+"/a", []byte("one"), 0o644))
	must(f.MkdirAll(Home+"/d/e", 0o755))
	must(f.Symlink("../../a", Home+"/d/e/up"))
	must(f.Symlink(Home+"/a", Home+"/d/absolute"))
	must(f.Symlink("later", Home+"/dangling"))
	for _, name := range []string{"/d/e/up", "/d/absolute"} {
		if b, err := f.ReadFile(Home+name, 10); err != nil || string(b) != "one" {
			t.Errorf("%s: %q %v", name, b, err)
		}
	}
	for _, target := range []string{"/etc/passwd", "..", "../secret", "../../x", "/home", "d/../../secret"} {
		if err := f.Symlink(target, Home+"/bad"); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("link to %s: %v", target, err)
		}
	}
	// A link that would lead out at its new place stays where it is.
	if err := f.Rename(Home+"/d/e/up", Home+"/up"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("moved: %v", err)
	}
	if err := f.Rename(Home+"/d/e", Home+"/e"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("moved in its folder: %v", err)
	}
	must(f.Rename(Home+"/d", Home+"/g"))
	// Links from outside of this program.
	must(os.Symlink(filepath.Join(filepath.Dir(home), "secret"), filepath.Join(home, "planted")))
	must(os.Symlink("../../secret", filepath.Join(home, "g", "planted")))
	for _, name := range []string{"/planted", "/g/planted"} {
		if b, err := f.ReadFile(Home+name, 10); err == nil {
			t.Errorf("%s: %q", name, b)
		}
		if real, err := f.Real(Home + name); err == nil {
			t.Errorf("%s is %s", name, real)
		}
		if err := f.WriteFile(Home+name, []byte("x"), 0o644); err == nil {
			t.Errorf("wrote to %s", name)
		}
	}
	if err := f.Check(Home); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("check: %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(filepath.Dir(home), "secret")); err != nil || string(b) != "secret" {
		t.Errorf("outside: %q %v", b, err)
	}
}

func TestQuota(t *testing.T) {
	t.Parallel()
	f, home := newFS(t, Options{Limit: 256 << 10})
	w, err := f.Create(Home+"/big", 0o644)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for {
		n, err := w.Write(make([]byte, 10_000))
		total += n
		if err != nil {
			var q *QuotaError
			if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &q) {
				t.Errorf("full: %v", err)
			}
			break
		}
	}
	w.Close()
	if total < 200<<10 || total > 256<<10 {
		t.Errorf("%d bytes fit", total)
	}
	if err := os.Truncate(filepath.Join(home, "big"), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteFile(Home+"/more", make([]byte, 100<<10), 0o644); err != nil {
		f.quota.counted = f.quota.counted.Add(-1e9) // the count may be a tenth of a second old
		if err := f.WriteFile(Home+"/more", make([]byte, 100<<10), 0o644); err != nil {
			t.Errorf("after making room: %v", err)
		}
	}
	for i := 0; ; i++ {
		if err := f.Mkdir(Home+"/d"+strings.Repeat("x", i), 0o755); err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				t.Error(err)
			}
			break
		}
	}
}

// Who makes room in a full home can write at once.
func TestQuotaAfterMakingRoom(t *testing.T) {
	t.Parallel()
	f, _ := newFS(t, Options{Limit: 1 << 20})
	for name, free := range map[string]func(string) error{
		"remove": f.Remove,
		"truncate": func(name string) error {
			w, err := f.Create(name, 0o644)
			if err != nil {
				return err
			}
			return w.Close()
		},
	} {
		if err := f.WriteFile(Home+"/big", make([]byte, 1<<20-4*block), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := f.WriteFile(Home+"/more", make([]byte, 8*block), 0o644); !isQuota(err) {
			t.Fatalf("a full home takes more: %v", err)
		}
		if err := free(Home + "/big"); err != nil {
			t.Fatal(err)
		}
		if err := f.WriteFile(Home+"/more", make([]byte, 8*block), 0o644); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := f.Remove(Home + "/more"); err != nil {
			t.Fatal(err)
		}
	}
}

// Another process has filled the home since this one counted: a terminal, when the page writes.
func TestQuotaIsOfAllProcesses(t *testing.T) {
	t.Parallel()
	f, home := newFS(t, Options{Limit: 1 << 20})
	if err := f.WriteFile(Home+"/first", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "of-another"), make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	f.quota.counted = f.quota.counted.Add(-fresh)
	if err := f.WriteFile(Home+"/second", []byte("x"), 0o644); !isQuota(err) {
		t.Errorf("a small file in a full home: %v", err)
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"/home/learner/a", "/tmp/../etc/passwd", "a/../../x", "/home/learner/planted/x", "/dev/null/../sda", "//", "/home/learner/\x00"} {
		f.Add(s)
	}
	v, home := newFS(f, Options{})
	if err := os.Symlink("/etc", filepath.Join(home, "planted")); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		abs := Abs(Home, name)
		real, err := v.Real(abs)
		if err != nil || strings.HasPrefix(real, "/dev/") {
			return
		}
		if real != v.real && !strings.HasPrefix(real, v.real+"/") {
			t.Fatalf("%q is %q", name, real)
		}
		if at, err := filepath.EvalSymlinks(real); err == nil && at != v.real && !strings.HasPrefix(at, v.real+"/") {
			t.Fatalf("%q is %q", name, at)
		}
	})
}
