package checker

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/apilab/apilab/checker/explain"
	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/exercises/expr"
)

// A listing is the objects of some scopes as variables.
type listing struct {
	names     []string // of the variables
	refs      []exercises.ObjectsRef
	selectors []labels.Selector
}

func newListing(with map[string]exercises.ObjectsRef) listing {
	var l listing
	for _, name := range slices.Sorted(maps.Keys(with)) {
		l.add(name, with[name])
	}
	return l
}

func (l *listing) add(name string, ref exercises.ObjectsRef) {
	selector, err := labels.Parse(ref.Selector)
	if err != nil { // the loader lets none through
		selector = labels.Nothing()
	}
	l.names, l.refs, l.selectors = append(l.names, name), append(l.refs, ref), append(l.selectors, selector)
}

func (l *listing) scopes() []watch.Scope {
	var scopes []watch.Scope
	for _, ref := range l.refs {
		scopes = append(scopes, watch.Scope{Resource: ref.Resource, Namespace: ref.Namespace})
	}
	return scopes
}

// fill sets the variables of the listing, whose stores are in the order of its scopes.
func (l *listing) fill(vars expr.Vars, stores []*store) {
	for i, name := range l.names {
		vars[name] = stores[i].list(l.selectors[i], l.refs[i].Name)
	}
}

func (l *listing) subject(stores []*store) explain.Subject {
	subject := explain.Subject{Lists: map[string]explain.Noun{}}
	for i, name := range l.names {
		subject.Lists[name] = noun(stores[i], l.refs[i].Selector)
	}
	return subject
}

// concerns reports whether a change is of an object that is, or was, in the listing.
func (l *listing) concerns(st *store, ch change) bool {
	for i, ref := range l.refs {
		if ref.Resource != st.scope.Resource || ref.Namespace != st.scope.Namespace {
			continue
		}
		if ref.Name != "" && ch.object().GetName() != ref.Name {
			continue
		}
		if ch.new != nil && l.selectors[i].Matches(labels.Set(ch.new.GetLabels())) ||
			ch.old != nil && l.selectors[i].Matches(labels.Set(ch.old.GetLabels())) {
			return true
		}
	}
	return false
}

// objectsJudge judges a set of objects.
type objectsJudge struct {
	check   *check
	listing listing
}

func newObjectsJudge(c *check) *objectsJudge {
	j := &objectsJudge{check: c, listing: newListing(c.spec.Objects.With)}
	j.listing.add("objects", *c.spec.Objects)
	return j
}

func (j *objectsJudge) scopes() []watch.Scope             { return j.listing.scopes() }
func (j *objectsJudge) begin()                            {}
func (j *objectsJudge) changed(st *store, ch change) bool { return j.listing.concerns(st, ch) }

func (j *objectsJudge) verdict() verdict {
	vars := expr.Vars{}
	j.listing.fill(vars, j.check.stores)
	subject := j.listing.subject(j.check.stores)
	return j.check.decide(vars, subject, func() *Evidence {
		ref := j.check.spec.Objects
		objects := vars["objects"].([]any)
		n := subject.Lists["objects"]
		what := n.Many
		if len(objects) == 1 {
			what = n.One
		}
		e := &Evidence{
			Resource: ref.Resource, Namespace: ref.Namespace,
			ResourceVersion: j.check.stores[len(j.check.stores)-1].version,
			Text:            fmt.Sprintf("%d %s", len(objects), what),
		}
		if n.Where != "" {
			e.Text += " " + n.Where
		}
		return e
	})
}
