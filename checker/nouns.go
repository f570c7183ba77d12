package checker

import (
	"strings"

	"github.com/apilab/apilab/checker/explain"
)

// thing names one object: "ConfigMap fin-demo in api-lab".
func thing(st *store, name, namespace string) string {
	s := kindOf(st) + " " + name
	if namespace != "" && (st.resource.Namespaced || st.resource.Kind == "") {
		s += " in " + namespace
	}
	return s
}

// noun names the objects of a scope: "Pods" "in api-lab".
func noun(st *store, selector string) explain.Noun {
	kind := kindOf(st)
	n := explain.Noun{One: kind, Many: plural(kind)}
	if st.scope.Namespace != "" && (st.resource.Namespaced || st.resource.Kind == "") {
		n.Where = "in " + st.scope.Namespace
	}
	if selector != "" {
		n.Where = strings.TrimSpace(n.Where + " with " + selector)
	}
	return n
}

// kindOf is the kind of the objects in a scope; while the API server does not know it, the name of the resource.
func kindOf(st *store) string {
	if st.resource.Kind != "" {
		return st.resource.Kind
	}
	resource, _, _ := strings.Cut(st.scope.Resource, ".")
	return resource
}

func plural(kind string) string {
	switch {
	case kind == "Endpoints" || kind == strings.ToLower(kind):
		return kind // a plural already
	case strings.HasSuffix(kind, "s"), strings.HasSuffix(kind, "x"), strings.HasSuffix(kind, "ch"):
		return kind + "es"
	case strings.HasSuffix(kind, "y") && !strings.HasSuffix(kind, "ey") && !strings.HasSuffix(kind, "ay"):
		return strings.TrimSuffix(kind, "y") + "ies"
	}
	return kind + "s"
}
