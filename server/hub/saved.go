package hub

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/server/store"
)

// fromStore is what a session needs to know of an exercise's past.
func fromStore(e store.Exercise) checker.Saved {
	saved := checker.Saved{
		Passed:   make(map[string]checker.Pass),
		Answers:  make(map[string]string),
		Hints:    make(map[string]int),
		Solution: e.Solution,
		Cluster:  e.Cluster,
	}
	if !e.PassedAt.IsZero() {
		saved.PassedAt = &e.PassedAt
	}
	for _, c := range e.Checks {
		if !c.PassedAt.IsZero() {
			saved.Passed[c.ID] = checker.Pass{Since: c.PassedAt, By: evidence(c)}
		}
		if c.Answer != "" {
			saved.Answers[c.ID] = c.Answer
		}
		if c.Hints > 0 {
			saved.Hints[c.ID] = c.Hints
		}
	}
	return saved
}

// toStore is what is kept of an exercise.
func toStore(id string, saved checker.Saved) store.Exercise {
	checks := make(map[string]store.Check)
	edit := func(id string, set func(*store.Check)) {
		c := checks[id]
		c.ID = id
		set(&c)
		checks[id] = c
	}
	for id, pass := range saved.Passed {
		edit(id, func(c *store.Check) { c.PassedAt, c.Evidence = stored(pass.Since), encode(pass.By) })
	}
	for id, answer := range saved.Answers {
		edit(id, func(c *store.Check) { c.Answer = answer })
	}
	for id, told := range saved.Hints {
		edit(id, func(c *store.Check) { c.Hints = told })
	}
	e := store.Exercise{ID: id, Solution: saved.Solution, Cluster: saved.Cluster}
	if saved.PassedAt != nil {
		e.PassedAt = stored(*saved.PassedAt)
	}
	for _, c := range checks {
		e.Checks = append(e.Checks, c)
	}
	slices.SortFunc(e.Checks, func(a, b store.Check) int { return cmp.Compare(a.ID, b.ID) })
	return e
}

// stored is a time as the store gives it back.
func stored(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

func encode(by *checker.Evidence) string {
	if by == nil {
		return ""
	}
	text, err := json.Marshal(by)
	if err != nil {
		return "" // a struct of strings has none
	}
	return string(text)
}

// evidence is what satisfied a check. An older or newer apilab may have written it in another way; then it is not told.
func evidence(c store.Check) *checker.Evidence {
	var by checker.Evidence
	if c.Evidence == "" || json.Unmarshal([]byte(c.Evidence), &by) != nil {
		return nil
	}
	return &by
}
