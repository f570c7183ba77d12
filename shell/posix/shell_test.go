package posix

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apilab/apilab/shell/localhost"
	"github.com/apilab/apilab/shell/tools"
	"github.com/apilab/apilab/shell/vfs"
)

// output is safe for background jobs.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

type fixture struct {
	*Shell
	out  *output
	home string
}

func newShell(t *testing.T, limits Limits) *fixture {
	t.Helper()
	base := t.TempDir()
	home, pipes := filepath.Join(base, "home"), filepath.Join(base, "pipes")
	for _, d := range []string{home, pipes, filepath.Join(base, "ports")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	v, err := vfs.New(home, vfs.Options{Limit: 8 << 20, Pipes: pipes})
	if err != nil {
		t.Fatal(err)
	}
	out := &output{}
	s, err := New(Options{
		Host: &tools.Host{FS: v, Ports: localhost.New(filepath.Join(base, "ports"))},
		Env:  []string{"HOME=/home/learner", "PATH=/usr/bin", "TMPDIR=/tmp", "UID=1000", "EUID=1000", "GID=1000"}, Dir: vfs.Home,
		Stdout: out, Stderr: out, Pipes: pipes, Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); v.Close() })
	return &fixture{s, out, home}
}

func (f *fixture) run(t *testing.T, script string) int {
	t.Helper()
	file, _, err := Parse(script, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	status, _ := f.Run(ctx, file)
	return status
}

func TestScripts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   string
		status int
	}{
		"pipe":                  {"printf 'b\\na\\n' | sort", "a\nb\n", 0},
		"here-document":         {"x=1; cat <<EOF\nv=$x\nEOF", "v=1\n", 0},
		"quoted here-document":  {"cat <<'EOF'\n$x\nEOF", "$x\n", 0},
		"here-string":           {"cat <<< hi", "hi\n", 0},
		"substitution":          {"echo $(echo a; echo b)", "a b\n", 0},
		"loop":                  {"for i in 1 2 3; do echo $i; done | tail -1", "3\n", 0},
		"function":              {"f() { echo \"$1\"; return 3; }; f x; echo $?", "x\n3\n", 0},
		"redirect":              {"echo a > f; echo b >> f; cat < f", "a\nb\n", 0},
		"glob":                  {"touch a.yaml b.yaml c.txt; echo *.yaml", "a.yaml b.yaml\n", 0},
		"status":                {"false", "", 1},
		"exit":                  {"exit 7; echo no", "", 7},
		"errexit":               {"set -e; false; echo no", "", 1},
		"cd":                    {"mkdir -p a/b; cd a/b; pwd; cd -; cd; pwd", "/home/learner/a/b\n/home/learner\n/home/learner\n", 0},
		"cd to nowhere":         {"cd /etc", "cd: no such file or directory: \"/etc\"\n", 1},
		"tmp":                   {"echo x > /tmp/f; cat /tmp/f; ls /tmp; echo $TMPDIR", "x\nf\n/tmp\n", 0},
		"process substitution":  {"diff <(echo a) <(echo b)", "1c1\n< a\n---\n> b\n", 1},
		"test":                  {"[ -f f ] || touch f; [[ -f f && -d . ]] && echo yes", "yes\n", 0},
		"while read":            {"printf 'a 1\\nb 2\\n' | while read k v; do echo $v$k; done", "1a\n2b\n", 0},
		"not found":             {"nothing", "nothing: command not found\n", 127},
		"script":                {"printf '#!/bin/bash\\necho $0 $1 $#\\n' > s.sh; chmod +x s.sh; ./s.sh x y", "./s.sh x 2\n", 0},
		"bash -c":               {"bash -c 'echo $1' _ hi; sh -c 'exit 4'", "hi\n", 4},
		"bash from stdin":       {"echo 'echo in' | bash", "in\n", 0},
		"xargs":                 {"printf 'a\\nb\\n' | xargs -n1 echo -", "- a\n- b\n", 0},
		"xargs with a place":    {"printf 'a\\nb\\n' | xargs -I{} echo '<{}>'", "<a>\n<b>\n", 0},
		"find -exec":            {"touch x.a y.b; find . -name '*.a' -exec echo got {} \\;", "got ./x.a\n", 0},
		"timeout":               {"timeout 0.05 sleep 10; echo $?", "124\n", 0},
		"wait for a job":        {"sleep 0.02 & wait $!; echo $?", "0\n", 0},
		"status of a job":       {"(exit 3) & wait $!; echo $?", "3\n", 0},
		"kill a job":            {"sleep 100 & P=$!; kill $P; wait $P; echo $?", "143\n", 0},
		"kill a pipe":           {"yes | cat > /dev/null & kill %1; wait; echo ok", "ok\n", 0},
		"jobs":                  {"sleep 100 & jobs; kill %1; wait", "[1]+  Running                 sleep 100 &\n", 0},
		"job in a function":     {"f() { sleep 100 & }; f; kill $! && wait $!; echo $?", "143\n", 0},
		"job in a subshell":     {"x=$( (sleep 0.01; echo late) & wait; echo end ); echo $x", "late end\n", 0},
		"echo":                  {`echo a  'b  c' %s '\n'; echo -n x; echo; echo -e 'a\tb 50%'; echo -n; echo -- -n; echo -E -n '\t'`, "a b  c %s \\n\nx\n" + "a\tb 50%\n-- -n\n\\t", 0},
		"jobs run at once":      {"for i in 1 2 3; do (sleep 0.03; echo $i >> f) & done; wait; sort f | tr '\\n' ' '", "1 2 3 ", 0},
		"jobs of jobs":          {"(sleep 0.01 & wait $!; echo $?; (echo deep > f) & wait) & wait; cat f", "0\ndeep\n", 0},
		"a job's stdin":         {"echo x | (cat & wait)", "", 0},
		"owner of no file":      {"[[ -O / ]] || [[ -G /dev/null ]] || echo no", "no\n", 0},
		"trap":                  {"(trap 'echo bye' EXIT; echo hi)", "hi\n", 0},
		"source":                {"echo 'v=5; return 0; v=6' > lib; source lib; echo $v; . ./lib; echo $v", "5\n5\n", 0},
		"type":                  {"type cat cd; type -t kubectl; command -v jq", "cat is /usr/bin/cat\ncd is a shell builtin\n/usr/bin/jq\n", 0},
		"command in a function": {"cat() { command cat \"$@\"; }; echo a | cat", "a\n", 0},
		"usual paths":           {"/bin/echo a; /usr/bin/env A=1 printenv A", "a\n1\n", 0},
		"arrays":                {"a=(x y z); echo ${a[1]} ${#a[@]} ${a[@]:1}", "y 3 y z\n", 0},
		"arithmetic":            {"i=0; while (( i < 3 )); do ((i++)); done; echo $((i*2))", "6\n", 0},
		"symlink out of home":   {"ln -s /etc/passwd p; cat p", "ln: /etc/passwd: a link may only lead to a place in /home/learner or /tmp\ncat: p: No such file or directory\n", 1},
		"dot dot":               {"cat ../../etc/passwd; cat ../../../../../../etc/passwd", "cat: ../../etc/passwd: No such file or directory\ncat: ../../../../../../etc/passwd: No such file or directory\n", 1},
		"dev null":              {"echo x > /dev/null; cat /dev/null; cat < /dev/null", "", 0},
		"stderr":                {"cat nofile 2>/dev/null || echo failed; cat nofile 2>&1 | wc -l", "failed\n1\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newShell(t, Limits{Jobs: 20})
			status := f.run(t, c.script)
			if got := f.out.String(); got != c.want || status != c.status {
				t.Errorf("%s\n got %d %q\nwant %d %q", c.script, status, got, c.status, c.want)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	limits := Limits{Jobs: 20, Goroutines: 2000, Memory: 128 << 20}
	for name, c := range map[string]struct{ script, want string }{
		"fork bomb":                 {":(){ :|:& };:; while jobs | grep -q Running; do sleep 0.01; done", "background jobs"},
		"fork bomb of pipes":        {"f(){ f | f; }; f", "stopped"},
		"fork bomb of jobs":         {"while true; do sleep 100 & done", "background jobs"},
		"recursion":                 {"f(){ f; }; f", "too deeply"},
		"endless substitution":      {"x=$(yes)", "memory"},
		"endless here-document":     {"cat <<EOF >/dev/null\n$(yes)\nEOF", "memory"},
		"doubling":                  {"a=xxxxxxxx; for ((;;)); do a=$a$a; done", "memory"},
		"a script that runs itself": {"echo './s' > s; chmod +x s; ./s", "stopped"},
		"a job that grows":          {"x=$(yes) & wait; echo waited", "memory"},
		"a job that grows alone":    {"x=$(yes) & while jobs | grep -q Running; do sleep 0.05; done", "memory"},
		"full home":                 {"yes > big", "o space left"},
		"many files":                {"i=0; while [ $i -lt 5000 ]; do touch f$i || break; i=$((i+1)); done", "o space left"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newShell(t, limits)
			start := time.Now()
			status := f.run(t, c.script)
			t.Log(time.Since(start))
			got := f.out.String()
			if !strings.Contains(got, c.want) || len(got) > 4096 {
				t.Errorf("status %d, output %.500q, want %q", status, got, c.want)
			}
			f.jobs.kill(f.jobs.list())
			f.out.b.Reset()
			if f.run(t, "rm -rf *; echo still here") != 0 || !strings.HasSuffix(f.out.String(), "still here\n") { // a job may say its end late
				t.Errorf("the shell is not usable afterwards: %.500q", f.out.String())
			}
		})
	}
}

func TestContinues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":                 false,
		"echo a":           false,
		"echo 'a":          true,
		"for x in 1 2; do": true,
		"cat <<EOF":        true,
		"cat <<'EOF'":      true,
		"cat > admit.sh <<\"EOF\"\nreview=$(cat)": true,
		"cat <<-'X'\n\ta":                         true,
		"cat <<'EOF'\na\nEOF":                     false,
		"kubectl get ns \\":                       true,
		`echo one \\`:                             false,
		`echo one \\\`:                            true,
		"kubectl get ns \\\n  -o wide":            false,
		"echo $(":                                 true,
		"if true; fi":                             false, // wrong, and no further line mends it
		"\\":                                      true,
	} {
		if got := Continues(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
