package checker

import (
	"testing"

	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/gateway"
)

func TestAstray(t *testing.T) {
	t.Parallel()
	list := func(namespace string) *request {
		return &request{record: gateway.Record{Verb: "list", Resource: "configmaps", Namespace: namespace, Status: gateway.Status{Code: 200}}}
	}
	get := func(namespace, name string, code int) *request {
		return &request{record: gateway.Record{Verb: "get", Resource: "configmaps", Namespace: namespace, Name: name, Status: gateway.Status{Code: code}}}
	}
	lists := exercises.RequestRef{Verb: "list", Resource: "configmaps", Namespace: "api-lab"}
	gets := exercises.RequestRef{Verb: "get", Resource: "configmaps", Namespace: "api-lab", Name: "door"}
	creates := exercises.RequestRef{Verb: "create", Resource: "configmaps", Namespace: "api-lab", Name: "door"}
	for _, tt := range []struct {
		ref  exercises.RequestRef
		sent []*request
		want string
	}{
		{lists, nil, ""},
		{lists, []*request{get("api-labs", "door", 200)}, ""},
		{lists, []*request{list("api-labs")}, "you listed configmaps in api-labs, not in api-lab"},
		{lists, []*request{list("api-labs"), list("")}, "you listed configmaps in all namespaces, not in api-lab"},
		{gets, []*request{get("api-lab", "doors", 200)}, "you read configmap doors in api-lab, not configmap door"},
		{gets, []*request{get("api-labs", "door", 404)}, "your get request, answered 404, was for configmap door in api-labs, not in api-lab"},
		{gets, []*request{get("api-labs", "door", 200), get("default", "doors", 200)}, "you read configmap door in api-labs, not in api-lab"},
		{gets, []*request{get("default", "doors", 200)}, "you read configmap doors in default, not configmap door in api-lab"},
		{creates, []*request{{record: gateway.Record{Verb: "create", Resource: "configmaps", Namespace: "api-lab"}}}, ""},
		{exercises.RequestRef{}, []*request{list("api-labs")}, ""},
		{exercises.RequestRef{Path: "/version"}, []*request{list("api-labs")}, ""},
	} {
		if got, ok := astray(tt.ref, tt.sent); got != tt.want || ok != (tt.want != "") {
			t.Errorf("got %q; want %q", got, tt.want)
		}
	}
}

func TestOne(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string]string{
		"configmaps": "configmap", "networkpolicies": "networkpolicy", "ingresses": "ingress", "endpoints": "endpoints",
		"patches": "patch", "storageclasses": "storageclass", "leases": "lease",
	} {
		if got := one(resource); got != want {
			t.Errorf("got %q; want %q", got, want)
		}
	}
}
