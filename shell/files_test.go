package shell

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	f, err := NewFiles(home, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v1, err := f.Write("dir/a.yaml", "one", "")
	if err != nil {
		t.Fatal(err)
	}
	text, ver, err := f.Read("dir/a.yaml")
	if err != nil || text != "one" || ver != v1 {
		t.Errorf("read %q %q %v", text, ver, err)
	}
	v2, err := f.Write("dir/a.yaml", "two", v1)
	if err != nil || v2 == v1 {
		t.Errorf("write: %q %v", v2, err)
	}
	if _, err := f.Write("dir/a.yaml", "three", v1); err != ErrChanged {
		t.Errorf("write of an old version: %v", err)
	}
	if _, err := f.Write("gone", "x", v1); err != ErrChanged {
		t.Errorf("write of a version of nothing: %v", err)
	}
	list, err := f.List()
	if err != nil || len(list) != 2 || list[0].Path != "dir" || !list[0].Dir || list[1].Path != "dir/a.yaml" || list[1].Size != 3 {
		t.Errorf("list %+v %v", list, err)
	}
	if _, err := f.Write("big", strings.Repeat("x", MaxFile+1), ""); err != ErrTooLarge {
		t.Errorf("too large: %v", err)
	}
	if _, _, err := f.Read("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := f.Write("bin", "a\x00b", ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Read("bin"); err != ErrNotText {
		t.Errorf("binary: %v", err)
	}
	if err := f.Delete("dir"); err != nil {
		t.Error(err)
	}
	if err := f.Delete("dir"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(home, "dir")); !os.IsNotExist(err) {
		t.Error("not deleted")
	}
	if _, err := f.Write("q", strings.Repeat("x", MaxFile), ""); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("beyond the quota: %v", err)
	}
}

func TestFilesStayInTheHome(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	home := filepath.Join(base, "home")
	f, err := NewFiles(home, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	outside := filepath.Join(base, "secret")
	if err := os.WriteFile(outside, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "..", "../secret", "/etc/passwd", outside, "a/../../secret", "link", "a\x00b", "\xff", "a//b", "./a"} {
		if text, _, err := f.Read(name); err == nil {
			t.Errorf("read %q: %q", name, text)
		}
		if _, err := f.Write(name, "x", ""); err == nil && name != "link" {
			t.Errorf("wrote %q", name)
		}
		if err := f.Delete(name); err == nil && name != "link" {
			t.Errorf("deleted %q", name)
		}
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != secret {
		t.Errorf("the file outside is %q, %v", b, err)
	}
}

func TestInstallKubeconfig(t *testing.T) {
	t.Parallel()
	first := func(token string) []byte {
		return []byte("apiVersion: v1\nkind: Config\nclusters: [{name: apilab, cluster: {server: 'https://127.0.0.1:1'}}]\nusers: [{name: learner, user: {token: " + token + "}}]\n" +
			"contexts: [{name: apilab, context: {cluster: apilab, user: learner, namespace: default}}]\ncurrent-context: apilab\n")
	}
	home := t.TempDir()
	read := func() string {
		b, err := os.ReadFile(kubeconfigPath(home))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	install := func(text []byte) string {
		note, err := installKubeconfig(home, text)
		if err != nil {
			t.Fatal(err)
		}
		return note
	}
	install(first("one"))
	own := strings.Replace(read(), "namespace: default", "namespace: mine", 1)
	if err := os.WriteFile(kubeconfigPath(home), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	install(first("one"))
	if read() != own {
		t.Error("an unchanged kubeconfig was written anew")
	}
	install(first("two"))
	if got := read(); !strings.Contains(got, "token: two") || !strings.Contains(got, "namespace: mine") {
		t.Errorf("merged: %s", got)
	}
	if err := os.WriteFile(kubeconfigPath(home), []byte("{{{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if note := install(first("two")); !strings.Contains(note, "config.broken") || !strings.Contains(read(), "token: two") {
		t.Errorf("broken: %q %s", note, read())
	}
}

func TestFilesRefuseLongAndDeepNames(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	f, err := NewFiles(home, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, p := range map[string]string{
		"long path": strings.Repeat("a/", 3000) + "f",
		"long part": "dir/" + strings.Repeat("x", 201),
		"deep":      strings.Repeat("a/", 64) + "f",
	} {
		if _, err := f.Write(p, "text", ""); !errors.Is(err, ErrBadName) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(home); err != nil || slices.ContainsFunc(left, func(d os.DirEntry) bool { return d.Name() == "a" || d.Name() == "dir" }) {
		t.Errorf("folders are left: %v, %v", left, err)
	}
	if _, err := f.Write(strings.Repeat("a/", 31)+strings.Repeat("x", 200), "text", ""); err != nil {
		t.Error(err)
	}
}
