package server

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A finder ranks what can be found for the page without JavaScript. With it the browser does: assets/src/search-index.ts
// has the same rules, and forgives a slip as well.
type finder struct {
	entries []searchEntry
	fields  [][4][]string // words of title, also, place and text
	whole   []string      // all of an entry, lower case, a line for each field, for phrases
}

var (
	fieldWeight = [4]float64{6, 2, 1, 1}
	kindWeight  = map[string]float64{"term": 1.5, "lesson": 1.4, "reference": 1.3, "track": 1.2, "exercise": 1.1, "section": 1}
)

const (
	mostFound  = 30
	mostOfPage = 3 // sections of one page: its other places are found from there
)

func newFinder(entries []searchEntry) *finder {
	f := &finder{entries: entries}
	for _, e := range entries {
		f.fields = append(f.fields, [4][]string{wordsOf(e.Title), wordsOf(e.Also), wordsOf(e.Place), wordsOf(e.Text)})
		var whole []string
		for _, field := range []string{e.Title, e.Also, e.Place, e.Text} {
			whole = append(whole, spaced(strings.ToLower(field)))
		}
		f.whole = append(f.whole, strings.Join(whole, "\n"))
	}
	return f
}

// A candidate is an entry in which something was found.
type candidate struct {
	entry int
	score float64
	has   uint64 // by the query's words
}

// find returns what has all words in one entry first, then the entries of pages that have all of them in different places; if
// there is neither, what has some. All phrases have to be there.
func (f *finder) find(q query) []searchEntry {
	words := q.words[:min(len(q.words), 64)]
	var found []candidate
	for i := range f.entries {
		if !slices.ContainsFunc(q.phrases, func(p string) bool { return !strings.Contains(f.whole[i], p) }) {
			found = append(found, candidate{entry: i})
		}
	}
	for w, word := range words {
		f.look(word, 1<<w, found)
	}
	found = slices.DeleteFunc(found, func(c candidate) bool { return c.has == 0 })
	all := uint64(1)<<len(words) - 1
	onPage := map[string]uint64{}
	for _, c := range found {
		onPage[f.page(c)] |= c.has
	}
	rank := func(c candidate) int {
		switch {
		case c.has == all:
			return 0
		case onPage[f.page(c)] == all:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.score, a.score))
	})
	if len(found) > 0 && rank(found[0]) < 2 {
		found = slices.DeleteFunc(found, func(c candidate) bool { return rank(c) == 2 })
	}
	return f.listed(found)
}

// look adds a word's score to the entries that have it, a word that begins with it counting half. A rare word says more.
func (f *finder) look(word string, bit uint64, in []candidate) {
	scores, n := make([]float64, len(in)), 0
	for i, c := range in {
		for field, words := range f.fields[c.entry] {
			best := 0.0
			for _, w := range words {
				if w == word {
					best = 1
					break
				}
				if strings.HasPrefix(w, word) {
					best = 0.5
				}
			}
			scores[i] += best * fieldWeight[field]
		}
		if scores[i] > 0 {
			n++
		}
	}
	rarity := math.Log(1 + float64(len(f.entries))/float64(1+n))
	for i, score := range scores {
		if score > 0 {
			in[i].score += score * rarity * kindWeight[f.entries[in[i].entry].Kind]
			in[i].has |= bit
		}
	}
}

func (f *finder) page(c candidate) string {
	page, _, _ := strings.Cut(f.entries[c.entry].URL, "#")
	return page
}

func (f *finder) listed(found []candidate) []searchEntry {
	var list []searchEntry
	sections := map[string]int{}
	for _, c := range found {
		e := f.entries[c.entry]
		if e.Kind == "section" {
			if sections[f.page(c)]++; sections[f.page(c)] > mostOfPage {
				continue
			}
		}
		if list = append(list, e); len(list) == mostFound {
			break
		}
	}
	return list
}
