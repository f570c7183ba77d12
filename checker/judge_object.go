package checker

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/apilab/apilab/checker/explain"
	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/exercises/expr"
)

// objectJudge judges one object, and its version before the last change since the exercise was opened.
type objectJudge struct {
	check   *check
	ref     exercises.ObjectRef
	current *unstructured.Unstructured // nil: there is none
	old     *unstructured.Unstructured
}

func (j *objectJudge) scopes() []watch.Scope {
	return []watch.Scope{{Resource: j.ref.Resource, Namespace: j.ref.Namespace}}
}

func (j *objectJudge) begin() {
	j.current, j.old = j.check.stores[0].named(j.ref.Namespace, j.ref.Name), nil
}

func (j *objectJudge) changed(st *store, ch change) bool {
	if ch.object().GetName() != j.ref.Name {
		return false
	}
	now := st.named(j.ref.Namespace, j.ref.Name)
	if now != j.current {
		j.current, j.old = now, j.current
	}
	return true
}

func (j *objectJudge) verdict() verdict {
	st := j.check.stores[0]
	vars := expr.Vars{"object": value(j.current), "old": value(j.old)}
	subject := explain.Subject{Object: thing(st, j.ref.Name, j.ref.Namespace)}
	return j.check.decide(vars, subject, func() *Evidence {
		e := &Evidence{Resource: j.ref.Resource, Namespace: j.ref.Namespace, Name: j.ref.Name, Text: subject.Object}
		if j.current == nil {
			e.Text = "there is no " + subject.Object
			e.ResourceVersion = st.version
			return e
		}
		e.Namespace, e.ResourceVersion = j.current.GetNamespace(), j.current.GetResourceVersion()
		return e
	})
}

// value is an object as the value of a variable.
func value(object *unstructured.Unstructured) any {
	if object == nil {
		return nil
	}
	return object.Object
}
