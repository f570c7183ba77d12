// Package spelling finds the word that somebody probably meant. It knows nothing of what the words are for.
package spelling

import "strings"

// Nearest returns the candidate nearest to word, and whether one is near enough to be suggested: at most a third of
// the longer one's letters apart. Case does not count.
func Nearest(word string, candidates []string) (string, bool) {
	best, distance := "", -1
	for _, candidate := range candidates {
		d := edits(strings.ToLower(word), strings.ToLower(candidate))
		if d <= (max(len(word), len(candidate))+2)/3 && (distance < 0 || d < distance) {
			best, distance = candidate, d
		}
	}
	return best, distance >= 0
}

// edits is the optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours.
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
