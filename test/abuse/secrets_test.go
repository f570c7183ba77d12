package abuse

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// lesson is an exercise with an answer to type and a check that a command passes.
const (
	lesson = "api-machinery/read-a-resource-version"
	passes = "kubectl annotate configmap ledger -n api-lab lab/checked=yes"
	passed = "moved" // the check that this passes
)

// open opens the exercise and waits until it can be done.
func (p *page) open() {
	p.t.Helper()
	p.get("exercise.open", map[string]any{"exercise": lesson}, nil)
	p.until("the exercise", func() bool { return strings.Contains(string(p.exercises[lesson]), `"phase":"open"`) })
}

// stateOf is that of a check of the exercise; p.mu is held.
func (p *page) stateOf(check string) string {
	var state struct{ Checks []struct{ ID, State string } }
	if json.Unmarshal(p.exercises[lesson], &state) == nil {
		for _, c := range state.Checks {
			if c.ID == check {
				return c.State
			}
		}
	}
	return ""
}

// outgrow makes a string 64 times as long again and again, which meets the limit of the shell's process before the shell can
// stop it: the shell crashes, and its last words are at hand for the log.
var outgrow = "x=1; while :; do x=" + strings.Repeat("$x", 64) + "; done"

// A learner's whole session at the most talkative log level leaves nothing in the log that lets anybody in, nothing that was
// typed and no answer; and in the database only what the learner's progress is.
func TestLogAndDatabaseTellNoSecrets(t *testing.T) {
	s := solo(t, "--log-level", "debug")
	code := strings.TrimSpace(s.run("open", "--no-open"))
	code = code[strings.LastIndexByte(code, '/')+1:]
	v := s.visitor(t)
	v.get("/signin/" + code)
	v.get("/search?q=typed-search-term")
	p := v.page(t)
	p.ready()
	p.open()
	p.get("exercise.answer", map[string]any{"exercise": lesson, "check": "version", "value": "typed-answer"}, nil)
	p.get("file.write", map[string]any{"path": "note.txt", "text": "typed-in-a-file"}, nil)
	term := p.terminal()
	term.run(passes)
	for _, keys := range []string{"echo typed-in-the-terminal\r", "kubectl create secret generic s --from-literal=password=typed-secret\r", "no-such-command typed-by-mistake\r", "kubectl get typed-resource --token typed-token\r"} {
		if err := term.keys(keys); err != nil {
			t.Fatal(err)
		}
	}
	term.outgrow("kubectl wait --for=create secret/s --timeout=60s; kubectl get secret s -o yaml; (exit 1); kubectl debug typed-pod; " + outgrow)
	a := p.api(t)
	a.ask("POST", "/api/v1/namespaces/default/secrets?typed-query=1", `{"metadata":{"name":"t"},"stringData":{"k":"typed-body"}}`, "X-Typed", "typed-header")
	a.as("typed-bearer").ask("GET", "/api/v1/namespaces", "")
	p.until("the check", func() bool { return p.stateOf(passed) == "passing" })
	cookie := v.cookies()[0].Value
	s.end(syscall.SIGTERM)

	log := strings.Replace(s.log.String(), code, "", 1) // the greeting has another one, which is meant for the console
	if !strings.Contains(log, "level=DEBUG") {
		t.Fatal("the log has no debug lines")
	}
	if !strings.Contains(log, "shell crashed") {
		t.Error("the shell did not crash, so that its last words were not at hand for the log")
	}
	secret := map[string]string{
		"a sign-in code": code, "a session": cookie, "a token of the gateway": a.config.BearerToken, "a secret in Base64": base64.StdEncoding.EncodeToString([]byte("typed-secret")),
		"a private key": "PRIVATE KEY", "the server's environment": hostSecret,
	}
	for what, text := range secret {
		if at := strings.Index(log, text); at >= 0 {
			t.Errorf("the log tells %s: %.300s", what, log[max(0, at-150):])
		}
	}
	if at := strings.Index(log, "typed-"); at >= 0 {
		t.Errorf("the log tells what was typed: %.300s", log[max(0, at-150):])
	}
	for path, content := range s.files("apilab.db*") {
		for what, text := range secret {
			if bytes.Contains(content, []byte(text)) {
				t.Errorf("%s tells %s", filepath.Base(path), what)
			}
		}
		for _, typed := range []string{"typed-in", "typed-secret", "typed-body", "typed-search", "typed-token", "typed-by"} {
			if bytes.Contains(content, []byte(typed)) {
				t.Errorf("%s has %s…", filepath.Base(path), typed)
			}
		}
	}
	if info, err := os.Stat(s.dir); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others on this machine may open the data folder: %v, %v", info.Mode(), err)
	}
}
