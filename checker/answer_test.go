package checker

import (
	"errors"
	"testing"
)

const answers = `
  - id: version
    says: Version
    answer: {prompt: 'Which?', with: {maps: {resource: configmaps, namespace: NS, name: a}}}
    expect: maps.exists(m, m.metadata.resourceVersion == answer)
    hints: [{when: answer == '0', say: Zero is no version.}, {say: Look.}, {say: Look there.}]
  - id: number
    says: Number
    answer: {prompt: 'How many?'}
    expect: int(answer) == 3
  - id: broken
    says: Broken
    answer: {prompt: 'What?', with: {maps: {resource: configmaps, namespace: NS}}}
    expect: answer != '' && maps[0].metadata.name > 1
  - id: picked
    says: Picked
    choice:
      prompt: Which?
      options:
        - {id: right, text: Right, right: true, why: Because.}
        - {id: wrong, text: Wrong, why: It is not.}
`

const answersKey = `
answers: {version: x, number: '3', broken: x}
wrong: [{name: wrong, answers: {picked: wrong}, stays: [picked]}]
`

func TestAnswersAndChoices(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	made := l.createConfigMap("a", nil)
	id := l.openWith("checks:"+answers+answersKey, Saved{})
	answer := func(check, value string) {
		t.Helper()
		if err := l.Answer(t.Context(), id, check, value); err != nil {
			t.Fatal(err)
		}
	}
	l.want(id, "version", Failing, "not answered yet")
	answer("version", "0")
	l.want(id, "version", Failing, "Zero is no version.")
	answer("version", "12")
	l.want(id, "version", Failing, `"12" is not right`)
	answer("version", "  "+made.GetResourceVersion()+"\n")
	if c := l.want(id, "version", Passing); c.Answered != made.GetResourceVersion() {
		t.Errorf("answered %q", c.Answered)
	}
	answer("number", "three")
	l.want(id, "number", Failing, `answer is "three", which is not a whole number`)
	answer("number", "3")
	l.want(id, "number", Passing)
	answer("broken", "x")
	l.want(id, "broken", Broken)
	answer("picked", "wrong")
	l.want(id, "picked", Failing, "It is not.")
	if err := l.Answer(t.Context(), id, "picked", "neither"); !errors.Is(err, ErrBadAnswer) {
		t.Errorf("an option that is not there: %v", err)
	}
	answer("picked", "right")
	if c := l.want(id, "picked", Passing); c.By == nil || c.By.Text != "Because." {
		t.Errorf("by %+v", c.By)
	}
	if err := l.Answer(t.Context(), id, "gone", "x"); !errors.Is(err, ErrNoCheck) {
		t.Errorf("a check that is not there: %v", err)
	}
	if err := l.Answer(t.Context(), "gone/gone", "picked", "x"); !errors.Is(err, ErrNotOpen) {
		t.Errorf("an exercise that is not open: %v", err)
	}
	if err := l.Answer(t.Context(), id, "number", string(make([]byte, maxAnswer+1))+"x"); !errors.Is(err, ErrBadAnswer) {
		t.Errorf("an endless answer: %v", err)
	}
}

func TestHintsAreToldOneByOne(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	id := l.openWith("checks:"+answers+answersKey, Saved{})
	if c := l.check(id, "version"); c.HintsLeft != 2 || len(c.Hints) != 0 {
		t.Errorf("%+v", c)
	}
	for range 2 {
		if err := l.Hint(id, "version"); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Hint(id, "version"); !errors.Is(err, ErrNoHint) {
		t.Errorf("a third hint: %v", err)
	}
	l.settle()
	if c := l.check(id, "version"); c.HintsLeft != 0 || len(c.Hints) != 2 || c.Hints[0] != "Look." {
		t.Errorf("%+v", c)
	}
	solution, err := l.RevealSolution(id)
	if err != nil || solution != "true" {
		t.Errorf("solution %q, %v", solution, err)
	}
	l.settle()
	if saved := l.Saved(id); saved.Hints["version"] != 2 || !saved.Solution {
		t.Errorf("saved %+v", saved)
	}
}
