package spelling

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"checks", "title", "solution", "setup", "reset", "needs"}
	for word, want := range map[string]string{
		"chekcs": "checks", "check": "checks", "Titel": "title", "solutoin": "solution", "need": "needs", "elephant": "", "": "",
	} {
		if got, _ := Nearest(word, words); got != want {
			t.Errorf("Nearest(%q) = %q; want %q", word, got, want)
		}
	}
}
