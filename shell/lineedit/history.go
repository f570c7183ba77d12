package lineedit

import (
	"strconv"
	"strings"
)

// historyLimit is how many texts are kept.
const historyLimit = 2000

// History is a list of texts, oldest first. Save keeps it over the life of the process; it gets the whole list as text.
type History struct {
	all  []string
	save func(text string)
}

// NewHistory reads what Save was given.
func NewHistory(text string, save func(text string)) *History {
	h := &History{save: save}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" {
			continue
		}
		if q, err := strconv.Unquote(line); err == nil && line[0] == '"' {
			line = q
		}
		h.all = append(h.all, line)
	}
	h.trim()
	return h
}

func (h *History) trim() {
	if n := len(h.all) - historyLimit; n > 0 {
		h.all = h.all[n:]
	}
}

// Add appends a text, unless it is empty, starts with a space, or repeats the last one.
func (h *History) Add(text string) {
	if strings.TrimSpace(text) == "" || text[0] == ' ' || len(text) > 64<<10 || len(h.all) > 0 && h.all[len(h.all)-1] == text {
		return
	}
	h.all = append(h.all, text)
	h.trim()
	if h.save == nil {
		return
	}
	var b strings.Builder
	for _, t := range h.all {
		if strings.Contains(t, "\n") || t[0] == '"' {
			t = strconv.Quote(t)
		}
		b.WriteString(t + "\n")
	}
	h.save(b.String())
}

// Len is 0 for a nil history.
func (h *History) Len() int {
	if h == nil {
		return 0
	}
	return len(h.all)
}

// At returns a text, 0 is the oldest.
func (h *History) At(i int) string { return h.all[i] }

// All returns a copy of the list.
func (h *History) All() []string { return append([]string(nil), h.all...) }
