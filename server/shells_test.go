package server

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/server/protocol"
)

// typeLine types a line into a terminal, after what the writer has typed before, and returns where its input ends.
func (tab *tab) typeLine(terminal uint32, offset uint64, line string) uint64 {
	tab.t.Helper()
	tab.sendFrame(protocol.Frame{Kind: protocol.Input, Terminal: terminal, Offset: offset, Payload: []byte(line + "\r")})
	return offset + uint64(len(line)) + 1
}

// sees waits until a terminal's output, from an offset on, has a text.
func (tab *tab) sees(terminal uint32, from uint64, text string) (end uint64) {
	tab.t.Helper()
	tab.until("the output "+text, func() bool {
		out, err := tab.output(terminal, from)
		end = from + uint64(len(out))
		return err == nil && bytes.Contains(out, []byte(text))
	})
	return end
}

// The real shell on a real terminal, with a page that is loaded again in the middle.
func TestShellInThePage(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	tab := v.open(t)
	id := tab.openTerminal()
	typed := tab.typeLine(id, 0, "echo $((40 + 2)) > answer.txt && cat answer.txt | sed s/^/it-is-/")
	tab.sees(id, 0, "it-is-42")

	var list []protocol.FileInfo
	tab.get("files.list", nil, &list)
	if len(list) != 1 || list[0].Path != "answer.txt" || list[0].Size != 3 || list[0].Dir {
		t.Errorf("files %+v", list)
	}
	var text protocol.FileText
	tab.get("file.read", map[string]any{"path": "answer.txt"}, &text)
	if text.Text != "42\n" {
		t.Errorf("read %q", text.Text)
	}
	var written protocol.FileVersion
	tab.get("file.write", map[string]any{"path": "answer.txt", "text": "43\n", "version": text.Version}, &written)
	if r := tab.ask("file.write", map[string]any{"path": "answer.txt", "text": "44\n", "version": text.Version}); r.OK {
		t.Error("a file that had changed was overwritten")
	}
	for _, path := range []string{"../../apilab.db", "/etc/passwd", "", "a/../../x"} {
		if r := tab.ask("file.read", map[string]any{"path": path}); r.OK {
			t.Errorf("%q was read", path)
		}
	}

	tab.leave()
	again := v.open(t)
	a := again.attach(id, "w", 0)
	if a.Acked != typed || a.From != 0 || a.End == 0 {
		t.Errorf("attached again: %+v, typed %d", a, typed)
	}
	again.sees(id, 0, "it-is-42") // it is drawn again
	again.typeLine(id, typed, "cat answer.txt | sed s/^/now-/; exit")
	again.sees(id, 0, "now-43")
	again.wait("terminals", func(m message) bool {
		var l protocol.Terminals
		return json.Unmarshal(m.raw, &l) == nil && len(l.Terminals) == 1 && l.Terminals[0].Exited
	})
	again.get("file.delete", map[string]any{"path": "answer.txt"}, nil)
	if _, err := os.Stat(filepath.Join(s.homeDir(localLearner), "answer.txt")); !os.IsNotExist(err) {
		t.Errorf("the deleted file: %v", err)
	}
}

func TestKubectlInThePage(t *testing.T) {
	t.Parallel()
	s := start(t)
	tab := s.learner(t).open(t)
	tab.openExercise("basics/ask")
	id := tab.openTerminal()
	tab.typeLine(id, 0, "kubectl get namespaces")
	tab.exercise("basics/ask", inState(checker.Passing))
	tab.sees(id, 0, "No resources found")
}

func TestSetupRunsInTheShellAsThePlatform(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *Options) {
		path := filepath.Join(o.ContentDir, "exercises", "basics", "say.yaml")
		set := strings.Replace(read(t, path), "task:", "setup: |\n  kubectl get namespaces && echo done > setup.txt\ntask:", 1)
		write(t, path, set)
		path = filepath.Join(o.ContentDir, "exercises", "basics", "pick.yaml")
		set = strings.Replace(read(t, path), "task:", "setup: |\n  echo it does not work >&2; exit 3\ntask:", 1)
		write(t, path, set)
	})
	tab := s.learner(t).open(t)
	tab.openExercise("basics/say")
	if text := read(t, filepath.Join(s.homeDir(localLearner), "setup.txt")); text != "done\n" {
		t.Errorf("the setup wrote %q", text)
	}
	if n := len(s.gateway.Recorder(localLearner).Records()); n != 0 {
		t.Errorf("the platform's setup left %d records of the learner's", n)
	}
	tab.get("exercise.open", map[string]any{"exercise": "basics/pick"}, nil)
	state := tab.exercise("basics/pick", func(s checker.ExerciseState) bool { return s.Phase == checker.Error })
	if !strings.Contains(state.Error, "it does not work") || !strings.Contains(state.Error, "exit status 3") {
		t.Errorf("the error of a setup that fails: %q", state.Error)
	}
}
