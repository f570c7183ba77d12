package cli

import "strconv"

// count is a number with its noun: "1 lesson", "2 lessons".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
