package checker

import (
	"fmt"

	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/exercises/expr"
)

// answerJudge judges what the learner typed, against live objects and requests.
type answerJudge struct {
	check    *check
	opened   *opened
	requests *requests
	listing  listing
	given    string
}

func newAnswerJudge(s *Session, o *opened, c *check) *answerJudge {
	return &answerJudge{check: c, opened: o, requests: &s.requests, listing: newListing(c.spec.Answer.With)}
}

func (j *answerJudge) scopes() []watch.Scope { return j.listing.scopes() }
func (j *answerJudge) begin()                {}

// A watch may be behind what the learner has read: an answer that is not right may become so.
func (j *answerJudge) changed(st *store, ch change) bool {
	return j.given != "" && j.listing.concerns(st, ch)
}

func (j *answerJudge) seen(*request) bool { return j.given != "" && usesRequests(j.check.spec) }

func (j *answerJudge) answer(value string) error {
	j.given = value
	return nil
}

func (j *answerJudge) verdict() verdict {
	if j.given == "" {
		return failing("not answered yet")
	}
	vars := expr.Vars{"answer": j.given}
	j.listing.fill(vars, j.check.stores)
	if usesRequests(j.check.spec) {
		all := []any{}
		for _, r := range j.requests.in(j.opened.span) {
			all = append(all, r.val(needsBodies(j.check.spec)))
		}
		vars["requests"] = all
	}
	subject := j.listing.subject(j.check.stores)
	subject.Secret = "answer"
	return j.check.decide(vars, subject, func() *Evidence { return &Evidence{Text: j.given} })
}

// choiceJudge judges what the learner picked.
type choiceJudge struct {
	check  *check
	picked *exercises.Option
}

func (j *choiceJudge) scopes() []watch.Scope       { return nil }
func (j *choiceJudge) begin()                      {}
func (j *choiceJudge) changed(*store, change) bool { return false }

func (j *choiceJudge) answer(value string) error {
	for i, option := range j.check.spec.Choice.Options {
		if option.ID == value {
			j.picked = &j.check.spec.Choice.Options[i]
			return nil
		}
	}
	return fmt.Errorf("%w: there is no option %q", ErrBadAnswer, value)
}

func (j *choiceJudge) verdict() verdict {
	switch {
	case j.picked == nil:
		return failing("not answered yet")
	case j.picked.Right:
		return passing(j.picked.Why)
	}
	return verdict{state: Failing, why: j.picked.Why, hinted: true}
}
