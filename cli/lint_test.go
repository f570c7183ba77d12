package cli

import (
	"bytes"
	"path/filepath"
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
}
