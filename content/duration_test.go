package content

import (
	"slices"
	"strings"
	"testing"
)

func TestDurations(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("word ", 200) // a minute
	commands := "```console\n" + strings.Repeat("$ true\n", 10) + "```\n"
	c, problems := Load(lessonFS(
		strings.Repeat(words, 10),                      // 10 of 10
		strings.Repeat(words, 3),                       // 3 of 10: not worth a word
		strings.Repeat(words+"\n\n", 25),               // 25 of 10
		commands+":::exercise t/one\n",                 // 3 and 21 of 10
		"```yaml\n"+strings.Repeat("a\n", 200)+"```\n", // 20 of 10
	))
	if len(problems) > 0 {
		t.Fatal(texts(problems))
	}
	got := texts(c.Durations(func(string) float64 { return 21 }))
	want := []string{
		"t/03-c/index.md:1: duration says 10 minutes; words, commands and exercises suggest about 25",
		"t/04-d/index.md:1: duration says 10 minutes; words, commands and exercises suggest about 24",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
