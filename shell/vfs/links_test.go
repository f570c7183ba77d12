package vfs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a learner does to lead a symlink out of the home, step by step, and what stays possible.
func TestLinksStayInTheHome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps string // "ln TARGET NAME", "hard OLD NAME", "mv OLD NEW", "mkdir NAME"
		last  bool   // the last step is allowed; all others are
	}{
		"beside":                      {"ln a/f l", true},
		"up within the home":          {"mkdir a/b; ln ../f a/b/l", true},
		"absolute":                    {"ln /home/learner/a/f a/l", true},
		"dangling":                    {"ln none l", true},
		"up":                          {"ln ../x l", false},
		"absolute, out":               {"ln /etc/passwd l", false},
		"through a link up":           {"ln .. a/up; ln a/up/../x l", false},
		"down and up":                 {"ln a/../f l", false},
		"made below a link":           {"ln . same; ln ../x same/l", false},
		"made below many links":       {"ln . s; ln ../../../x s/s/s/l", false},
		"made below a link, in place": {"mkdir a/b; ln a/b s; ln ../f s/l", true},
		"moved up":                    {"ln ../x a/l; mv a/l l", false},
		"moved below a link":          {"ln . s; ln ../x a/l; mv a/l s/l", false},
		"moved within a folder":       {"mkdir a/b; ln ../../x a/b/l; mv a/b b", false},
		"moved with its place":        {"mkdir a/b; ln ../f a/b/l; mv a/b b", true},
		"a hard link":                 {"mkdir a/b; ln ../../x a/b/l; hard a/b/l l", false},
		"a hard link of a file":       {"hard a/f f", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			v, err := New(home, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			if err := os.Mkdir(filepath.Join(home, "a"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, "a", "f"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			steps := strings.Split(c.steps, "; ")
			for i, step := range steps {
				w := strings.Fields(step)
				var err error
				switch w[0] {
				case "ln":
					err = v.Symlink(w[1], Abs(Home, w[2]))
				case "hard":
					err = v.Link(Abs(Home, w[1]), Abs(Home, w[2]))
				case "mv":
					err = v.Rename(Abs(Home, w[1]), Abs(Home, w[2]))
				case "mkdir":
					err = v.Mkdir(Abs(Home, w[1]), 0o700)
				}
				if want := i < len(steps)-1 || c.last; (err == nil) != want {
					t.Errorf("%s: %v, allowed should be %t", step, err, want)
				}
			}
			real, err := filepath.EvalSymlinks(home)
			if err != nil {
				t.Fatal(err)
			}
			filepath.WalkDir(home, func(p string, d os.DirEntry, err error) error {
				if to, err := filepath.EvalSymlinks(p); err == nil && to != real && !strings.HasPrefix(to, real+"/") {
					t.Errorf("%s leads to %s", p, to)
				}
				return nil
			})
		})
	}
}
