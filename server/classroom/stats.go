package classroom

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/apilab/apilab/server/protocol"
)

// stats are the numbers of a lesson's columns; mu is held.
func (r *Room) stats(lesson Lesson) []protocol.CheckStats {
	columns := make([]column, len(columns(lesson)))
	for _, id := range r.order {
		l := r.learners[id]
		i := 0
		cells := l.cells(lesson)
		for _, e := range lesson.Exercises {
			a := l.attempts[e.ID]
			for range e.Checks {
				columns[i].count(cells[i], a)
				i++
			}
		}
	}
	stats := make([]protocol.CheckStats, len(columns))
	for i := range columns {
		stats[i] = columns[i].stats()
	}
	return stats
}

// A column gathers how all learners stand with one check.
type column struct {
	passed, opened int
	times          []time.Duration
	whys           map[string]map[string]int // learners by text, by what the text is about
}

func (c *column) count(cell protocol.ClassCell, a *attempt) {
	if a == nil {
		return
	}
	c.opened++
	switch cell.State {
	case protocol.CellPassing:
		c.passed++
		if took := cell.Since.Sub(second(a.opened)); !a.opened.IsZero() && took >= 0 {
			c.times = append(c.times, took)
		}
	case protocol.CellFailing, protocol.CellBroken:
		if cell.Why == "" {
			return
		}
		if c.whys == nil {
			c.whys = make(map[string]map[string]int)
		}
		about := about(cell.Why)
		if c.whys[about] == nil {
			c.whys[about] = make(map[string]int)
		}
		c.whys[about][cell.Why]++
	}
}

func (c *column) stats() protocol.CheckStats {
	stats := protocol.CheckStats{Passed: c.passed, Opened: c.opened, Median: median(c.times)}
	for _, texts := range c.whys {
		n, often, text := 0, 0, ""
		for t, times := range texts {
			n += times
			if times > often || times == often && t < text {
				often, text = times, t
			}
		}
		if n > stats.Count || n == stats.Count && text < stats.Why {
			stats.Count, stats.Why = n, text
		}
	}
	return stats
}

// median is the middle one, or the mean of the two in the middle.
func median(times []time.Duration) time.Duration {
	n := len(times)
	if n == 0 {
		return 0
	}
	slices.SortFunc(times, cmp.Compare[time.Duration])
	return (times[(n-1)/2] + times[n/2]) / 2
}

// about is a why without the values that differ from learner to learner: what stands in backticks or quotes, and numbers.
func about(why string) string {
	var b strings.Builder
	var quote rune // that is open
	for _, c := range why {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '`' || c == '"':
			quote = c
			b.WriteRune(c)
		case c >= '0' && c <= '9':
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
