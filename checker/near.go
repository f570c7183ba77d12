package checker

import (
	"fmt"
	"strings"

	"github.com/apilab/apilab/exercises"
)

// said is how a learner speaks of having done what a verb asks for.
var said = map[string]string{
	"get": "read", "list": "listed", "watch": "watched", "create": "created", "update": "updated", "patch": "patched",
	"delete": "deleted", "deletecollection": "deleted all",
}

// astray says of the request that comes nearest to the reference, though it is not one of those that it narrows to, what is
// different: "you listed configmaps in api-labs, not in api-lab". Only one that does the same to the same resource comes near;
// of several it is the one with less that is different, then the newest.
func astray(ref exercises.RequestRef, sent []*request) (string, bool) {
	best, text := 0, ""
	for _, r := range sent {
		same := ref
		same.Namespace, same.Name = "", ""
		verb := said[r.record.Verb]
		if ref.Path != "" || ref.Resource == "" || ref.Verb == "" || verb == "" || !matches(same, r) {
			continue
		}
		elsewhere := ref.Namespace != "" && ref.Namespace != r.record.Namespace
		another := ref.Name != "" && ref.Name != r.record.Name
		if another && r.record.Name == "" { // as of a create: the name is in the body
			continue
		}
		different := 1
		if elsewhere && another {
			different = 2
		}
		if best != 0 && different > best {
			continue
		}
		best = different
		text = fmt.Sprintf("you %s %s", verb, of(ref, r.record.Name))
		if r.record.Status.Code >= 400 {
			text = fmt.Sprintf("your %s request, answered %d, was for %s", r.record.Verb, r.record.Status.Code, of(ref, r.record.Name))
		}
		where := "in all namespaces"
		if r.record.Namespace != "" {
			where = "in " + r.record.Namespace
		}
		if ref.Namespace != "" {
			text += " " + where
		}
		text += ", not"
		if another {
			text += " " + of(ref, ref.Name)
		}
		if elsewhere {
			text += " in " + ref.Namespace
		}
	}
	return text, best != 0
}

// of names what a request is for: "configmaps", "configmap door", "the status of pod p".
func of(ref exercises.RequestRef, name string) string {
	resource, _, _ := strings.Cut(ref.Resource, ".")
	subresource := ref.Subresource
	if subresource == "*" {
		subresource = ""
	}
	switch {
	case name == "" && subresource == "":
		return ref.Resource
	case name == "":
		return ref.Resource + "/" + subresource
	case subresource != "":
		return fmt.Sprintf("the %s of %s %s", subresource, one(resource), name)
	}
	return one(resource) + " " + name
}

// one is the singular of a resource: "configmap".
func one(resource string) string {
	switch {
	case resource == "endpoints":
		return resource
	case strings.HasSuffix(resource, "ies"):
		return strings.TrimSuffix(resource, "ies") + "y"
	case strings.HasSuffix(resource, "sses"), strings.HasSuffix(resource, "xes"), strings.HasSuffix(resource, "ches"):
		return strings.TrimSuffix(resource, "es")
	}
	return strings.TrimSuffix(resource, "s")
}
