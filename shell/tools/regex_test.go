package tools

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/apilab/apilab/shell/vfs"
)

// Each expression is given to the machine's own GNU tools and to ours, over the same text; they have to find the same.
func TestExpressionsFindWhatGNUsDo(t *testing.T) {
	t.Parallel()
	const text = "ab+b*b\n*b ^b $to a$b\na|b (b) {2} a{2} b? aab abcd\n\n$\n^\nb\na.b a/b tab\tend [x] back\\slash\na_b word-word _x\n"
	both := []string{
		// the places of ^ and $
		"^b", "b$", "a$b", "$to", "$", "^", "^$", "b^", "a^b", "^^b", "$$", `^\$to`, `\^b`, "x$to", "[$]to", "[$^]",
		"b*", "ab*", ".*", "a.*b", `\*b`, "[*]b",
		// sets
		"[]x]", "[^]x]*", "[a-c]b", "[b+]*", "[[:alpha:]]*", "[^[:space:]]*", `[\]s`, "[.]b", "[[]x", "[/]b", "[a-]b",
		// words
		`\bb`, `\Bb`, `\<b`, `b\>`, `\w*`, `\W`, `\s`, `\S*`, "\\`ab", `b\'`, `\.b`, `\/b`, `\-w`,
		// mistakes
		`[b`, `b\`,
	}
	basic := append([]string{
		"*b", "^*b", // with nothing before it; of an extended one sed makes an error, grep a warning
		"a+b", "b?", "a|b", "(b)", "a{2}", "{2}", "b+*", // themselves
		`b\+`, `ab\?`, `a\|b`, `\(b\)`, `a\{2\}`, `a\{1,\}`, `a\{,2\}b`, `a\{1,2\}b`, `\(ab\)*`, `\(a\|ab\)\(cd\|b\)`, `ab\|abcd`, // operators
		`\+b`, `\?`, `\(*b\)`, `a\|*b`, `a\|\+b`, `\(^b\)`, `\(b$\)`, `a\|^b`, `b$\|^a`, `\(^a\)b`, `x\(^b\)`, `a\{1\}b`, `^\+b`, `\(^*b\)`, `b*\+`, `b*\?`, `a$*`, `\(\)`,
		`b\{2`, `b\{2,x\}`, `b\)`, `\(b`,
	}, both...)
	extended := append([]string{
		"b+", "ab?", "a|b", "(b)", "a{2}", "a{1,}", "a{,2}b", "a{1,2}b", "(ab)*", "(a|ab)(cd|b)", "ab|abcd", "a(b|$)", "(^|a)b", "b||a", "(|b)a", "b$|^a", // operators
		`a\+b`, `b\?`, `a\|b`, `\(b\)`, `a\{2`, `\{2`, // themselves
		"a*?b", "a+?b", "a{1}*b", "a+*b", "(a*)+b", "a^b", "a$b", "()", "(b", `b{2,1}`,
	}, both...)
	for _, tt := range []struct {
		tool  string
		args  []string
		exprs []string
	}{
		{"grep", []string{"-o"}, basic},
		{"grep", []string{"-oE"}, extended},
		{"grep", []string{"-c"}, basic},
		{"sed", nil, basic},
		{"sed", []string{"-E"}, extended},
	} {
		gnu, err := exec.LookPath(tt.tool)
		if version, _ := exec.Command(tt.tool, "--version").Output(); err != nil || !bytes.Contains(version, []byte("GNU")) {
			t.Skip("this machine has no GNU " + tt.tool)
		}
		for _, expr := range tt.exprs {
			if tt.tool == "sed" {
				if strings.HasSuffix(expr, `\`) || expr == "[b" {
					continue // takes the delimiter in
				}
				expr = "s\x01" + expr + "\x01<&>\x01g"
			}
			args := append(append([]string{}, tt.args...), expr)
			cmd := exec.Command(gnu, args...)
			cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
			cmd.Stdin = strings.NewReader(text)
			want, wantErr := cmd.Output()
			got, gotErr := runTool(t, tt.tool, args, text)
			if got != string(want) || (gotErr == nil) != (wantErr == nil) {
				t.Errorf("%s %q: got %q, %v; GNU's %q, %v", tt.tool, args, got, gotErr, want, wantErr)
			}
		}
	}
}

// Scripts of sed whose expressions are plain and whose syntax is the point.
func TestSedReadsScriptsAsGNUsDoes(t *testing.T) {
	t.Parallel()
	if version, _ := exec.Command("sed", "--version").Output(); !bytes.Contains(version, []byte("GNU")) {
		t.Skip("this machine has no GNU sed")
	}
	const text = "ab a/b\ncd $to\nef\nüü§\n"
	for _, script := range []string{
		"s/$to/X/", "s/[/]/X/", "s/a/[/;s/b/]/", `s,a\,b,X,`, "s|a|b|", `s|c\|d|X|g`, `s/a\/b/[&]/`, "N;s/b.c/X/", "N;N;s/^c/X/M", "N;N;s/b$/X/Mg", "N;s/a.*d/X/", `s/[\/]/X/`, `s/[\]/X/`, "s/[]/]/X/",
		"/$to/d", "/^e/s/f$/$/", "y/abc/xyz/", `s/\(a\)\(b\)/\2\1/`, "s/B/x/I", "s/a/b/2", "s/ü*§/<&>/", "s/[§ü]/x/g", "$!d", "2q", `s/\$to/\&/`,
	} {
		cmd := exec.Command("sed", script)
		cmd.Stdin = strings.NewReader(text)
		want, _ := cmd.Output()
		if got, err := runTool(t, "sed", []string{script}, text); got != string(want) {
			t.Errorf("sed %q: got %q, %v; GNU's %q", script, got, err, want)
		}
	}
}

func runTool(t *testing.T, name string, args []string, in string) (string, error) {
	t.Helper()
	v, err := vfs.New(t.TempDir(), vfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var out, errs bytes.Buffer
	tool, _ := Lookup(name)
	err = tool.Run(t.Context(), &Call{Name: name, Args: args, Dir: vfs.Home, Stdin: strings.NewReader(in), Stdout: &out, Stderr: &errs, Host: &Host{FS: v}})
	return out.String(), err
}
