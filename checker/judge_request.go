package checker

import (
	"fmt"
	"sort"
	"strings"

	"github.com/apilab/apilab/checker/explain"
	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/exercises/expr"
)

// requestJudge judges each of the learner's requests since the exercise was opened, in each of its states: as its
// headers are known, as events of a watch pass, as it ends.
type requestJudge struct {
	check    *check
	opened   *opened
	requests *requests
	ref      exercises.RequestRef

	fresh map[uint64]*request // not judged in their newest state
	// What is said while none fits: of the request that came nearest, or the newest one that a hint is for.
	nearest *request
	reason  explain.Reason
	hint    string
	matched bool // the last verdict was passing, by the request
	by      *Evidence
}

func (j *requestJudge) scopes() []watch.Scope       { return nil }
func (j *requestJudge) changed(*store, change) bool { return false }

// begin has the requests judged that were running before.
func (j *requestJudge) begin() {
	j.fresh = map[uint64]*request{}
	for _, r := range j.requests.in(j.opened.span) {
		j.fresh[r.record.ID] = r
	}
}

func (j *requestJudge) seen(r *request) bool {
	j.fresh[r.record.ID] = r
	return true
}

func (j *requestJudge) verdict() verdict {
	x := j.check.spec.Expression()
	since := j.requests.in(j.opened.span)
	full := needsBodies(j.check.spec)
	var all []any
	if usesRequests(j.check.spec) {
		for _, r := range since {
			all = append(all, r.val(full))
		}
	}
	if x.Uses("requests") { // any of them may fit now
		for _, r := range since {
			j.fresh[r.record.ID] = r
		}
	}
	for _, r := range since {
		if _, ok := j.fresh[r.record.ID]; !ok {
			continue
		}
		delete(j.fresh, r.record.ID)
		vars := expr.Vars{"request": r.val(full), "requests": all}
		if v, decided := j.judgeOne(x, r, vars); decided {
			return v
		}
	}
	clear(j.fresh) // those that are not kept any more
	switch {
	case j.matched:
		return verdict{state: Passing, by: j.by}
	case j.hint != "":
		return verdict{state: Failing, why: j.hint, hinted: true}
	case j.nearest == nil:
		if text, ok := astray(j.ref, since); ok {
			return failing("%s", text)
		}
		return failing("you have not sent %s yet", wanted(j.ref))
	}
	return verdict{
		state: Failing, why: fmt.Sprintf("in your %s: %s", j.nearest.short(), j.reason.Text),
		field: j.reason.Field, saw: j.reason.Saw,
	}
}

// judgeOne judges one request; it decides when the request fits, or shows that the check is broken.
func (j *requestJudge) judgeOne(x *expr.Expression, r *request, vars expr.Vars) (verdict, bool) {
	if !matches(j.ref, r) {
		if hint, ok := hintFor(j.check.spec, vars); ok {
			j.hint = hint
		}
		return verdict{}, false
	}
	ok, err := x.Eval(vars)
	if ok && err == nil {
		j.matched, j.hint = true, ""
		if !x.Uses("request") {
			r = j.completing(x, r)
		}
		j.by = &Evidence{
			Resource: r.record.Resource, Namespace: r.record.Namespace, Name: r.record.Name, Request: r.line(),
			Text: fmt.Sprintf("your %s, answered %d", r.short(), r.record.Status.Code),
		}
		if j.check.spec.Mode == exercises.Once {
			return verdict{state: Passing, by: j.by}, true
		}
		return verdict{}, false
	}
	j.matched = false
	reason := explain.Why(x, vars, explain.Subject{Lists: map[string]explain.Noun{"requests": {One: "request of yours", Many: "requests of yours"}}})
	if reason.Broken {
		return verdict{state: Broken, why: reason.Text, field: reason.Field, saw: reason.Saw}, true
	}
	if j.nearest == nil || reason.Depth >= j.reason.Depth {
		j.nearest, j.reason = r, reason
	}
	j.hint, _ = hintFor(j.check.spec, vars)
	return verdict{}, false
}

// completing returns the request with which an expression on all of them became true: the last of the fewest that make it
// so; r if there are none.
func (j *requestJudge) completing(x *expr.Expression, r *request) *request {
	counted := j.requests.in(j.opened.span)
	all := make([]any, len(counted))
	for i, r := range counted {
		all[i] = r.val(needsBodies(j.check.spec))
	}
	n := sort.Search(len(counted), func(i int) bool {
		ok, err := x.Eval(expr.Vars{"request": all[i], "requests": all[:i+1]})
		return ok && err == nil
	})
	if n == len(counted) {
		return r
	}
	return counted[n]
}

// matches reports whether a request is one of those that the reference narrows to.
func matches(ref exercises.RequestRef, r *request) bool {
	record := r.record
	resource, group, hasGroup := strings.Cut(ref.Resource, ".")
	switch {
	case ref.Path != "":
		return record.Path == ref.Path && (ref.Verb == "" || record.Verb == ref.Verb)
	case ref.Verb != "" && record.Verb != ref.Verb,
		ref.Resource != "" && record.Resource != resource,
		hasGroup && record.APIGroup != group,
		ref.Resource != "" && ref.Subresource != "*" && record.Subresource != ref.Subresource,
		ref.Resource == "" && ref.Subresource != "" && ref.Subresource != "*" && record.Subresource != ref.Subresource,
		ref.Namespace != "" && record.Namespace != ref.Namespace,
		ref.Name != "" && record.Name != ref.Name:
		return false
	}
	return true
}

// wanted names the requests that the reference narrows to: "a watch request for pods in api-lab".
func wanted(ref exercises.RequestRef) string {
	if ref.Path != "" {
		return "a request to " + ref.Path
	}
	what := "a request"
	if ref.Verb != "" {
		what = article(ref.Verb) + " request"
	}
	if ref.Resource != "" {
		what += " for " + of(ref, ref.Name)
	} else if ref.Name != "" {
		what += " for " + ref.Name
	}
	if ref.Namespace != "" {
		what += " in " + ref.Namespace
	}
	if what == "a request" {
		return "a request that fits"
	}
	return what
}

func article(word string) string {
	if strings.ContainsRune("aeiou", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}

// needsBodies reports whether any expression of the check looks into bodies or events.
func needsBodies(spec *exercises.Check) bool {
	return anyExpression(spec, func(x *expr.Expression) bool {
		return x.Selects("body") || x.Selects("response") || x.Selects("events")
	})
}

func usesRequests(spec *exercises.Check) bool {
	return anyExpression(spec, func(x *expr.Expression) bool { return x.Uses("requests") })
}

func anyExpression(spec *exercises.Check, is func(*expr.Expression) bool) bool {
	if x := spec.Expression(); x != nil && is(x) {
		return true
	}
	for i := range spec.Hints {
		if x := spec.Hints[i].Condition(); x != nil && is(x) {
			return true
		}
	}
	return false
}
