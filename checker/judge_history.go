package checker

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	kwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/apilab/apilab/checker/explain"
	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/exercises/expr"
)

// maxHistory bounds the versions, deletions and events that are remembered, each; the oldest are forgotten first.
const maxHistory = 500

// historyJudge judges what happened to objects since the exercise was opened.
type historyJudge struct {
	check     *check
	ref       exercises.HistoryRef
	versions  []any // those at the opening, then each later one
	deletions []any
	events    []any
	last      *Evidence // of the newest change
}

func (j *historyJudge) scopes() []watch.Scope {
	return []watch.Scope{{Resource: j.ref.Resource, Namespace: j.ref.Namespace}}
}

func (j *historyJudge) begin() {
	j.versions = j.check.stores[0].list(labels.Everything(), j.ref.Name)
}

func (j *historyJudge) changed(_ *store, ch change) bool {
	object := ch.object()
	if j.ref.Name != "" && object.GetName() != j.ref.Name {
		return false
	}
	j.events = remember(j.events, map[string]any{"type": string(ch.kind), "object": object.Object})
	if ch.kind == kwatch.Deleted {
		j.deletions = remember(j.deletions, object.Object)
	} else {
		j.versions = remember(j.versions, object.Object)
	}
	j.last = &Evidence{
		Resource: j.ref.Resource, Namespace: object.GetNamespace(), Name: object.GetName(),
		ResourceVersion: object.GetResourceVersion(),
		Text:            string(ch.kind) + " " + thing(j.check.stores[0], object.GetName(), object.GetNamespace()),
	}
	return true
}

func remember(list []any, item any) []any {
	if len(list) >= maxHistory {
		list = slices.Delete(list, 0, len(list)-maxHistory+1)
	}
	return append(list, item)
}

func (j *historyJudge) verdict() verdict {
	st := j.check.stores[0]
	all := noun(st, "")
	named := func(one, many string) explain.Noun {
		if j.ref.Name != "" {
			return explain.Noun{One: one, Many: many, Where: "of " + thing(st, j.ref.Name, j.ref.Namespace)}
		}
		return explain.Noun{One: one, Many: many, Where: "of " + all.Many + spaced(all.Where)}
	}
	vars := expr.Vars{"versions": slices.Clone(j.versions), "deletions": slices.Clone(j.deletions), "events": slices.Clone(j.events)}
	subject := explain.Subject{Lists: map[string]explain.Noun{
		"versions":  named("version", "versions"),
		"deletions": named("deletion", "deletions"),
		"events":    named("change", "changes"),
	}}
	return j.check.decide(vars, subject, func() *Evidence {
		if j.last == nil {
			return &Evidence{Resource: j.ref.Resource, Namespace: j.ref.Namespace, Name: j.ref.Name}
		}
		return j.last
	})
}

func spaced(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}
