package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestLintCounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "content/t/track.yaml"), "title: T\nsummary: S\noutcome: O\norder: 1\n")
	lesson := filepath.Join(dir, "content/t/01-a/index.md")
	const front = "---\ntitle: L\nsummary: S\nduration: 1\ndifficulty: introductory\nobjectives: [read]\n---\n"
	writeFile(t, lesson, front)
	writeFile(t, filepath.Join(dir, "exercises/empty"), "")
	lint := func() string {
		var out bytes.Buffer
		_ = (&Program{Stdout: &out, Stderr: &out}).lintDir(dir)
		_, last, _ := bytes.Cut(bytes.TrimSpace(out.Bytes()), []byte("\n"))
		if last == nil {
			last = bytes.TrimSpace(out.Bytes())
		}
		return string(last)
	}
	if got, want := lint(), "1 lesson, 0 exercises: no problem"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	writeFile(t, lesson, front+"# T\n")
	if got, want := lint(), "1 lesson, 0 exercises: 1 problem"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	writeFile(t, lesson, strings.Replace(front, "duration: 1", "duration: 30", 1))
	if got, want := lint(), "1 lesson, 0 exercises: no problem, 1 warning"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}

func TestNothingBuiltInWarrantsAWord(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := (&Program{Stdout: &out, Stderr: &out}).lintDir(""); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%v\n%s", err, out.String())
	}
}
