package posix

import (
	"os"
	"strings"
	"testing"
)

// testdata/commands.txt holds scripts, each after a "$ ", and what GNU's tools and bash print for them. "␤" at a line's end
// stands for the lack of one. Where ours differ on purpose, TestScripts has the script.
func TestCommandsPrintWhatGNUsDo(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(text), "\n$ ")[1:] {
		script, want, _ := strings.Cut(part, "\n")
		if want != "" && !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		want = strings.ReplaceAll(want, "␤\n", "")
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			f := newShell(t, Limits{Jobs: 20})
			f.run(t, script)
			f.End(t.Context())
			if got := f.out.String(); got != want {
				t.Errorf("%s\n got %q\nwant %q", script, got, want)
			}
		})
	}
}
