package embedded_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/handler3"
)

// documents reads every document that the list of OpenAPI v3 names, under the hash that it has there, and the one of v2.
func documents(t *testing.T, l *lab, _ string) {
	client := dynamic.NewForConfigOrDie(l.cluster.LearnerConfig())
	create(t, client, schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, "", `{
		"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"sails.documents.example.com"},"spec":{
		"group":"documents.example.com","scope":"Cluster","names":{"plural":"sails","kind":"Sail"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","description":"A sheet for the wind."}}}]}}`)
	transport, err := rest.TransportFor(l.cluster.LearnerConfig())
	if err != nil {
		t.Fatal(err)
	}
	learner := &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, _ []*http.Request) error { return fmt.Errorf("redirected to %s", r.URL) }}
	get := func(ctx context.Context, path string, into any) (etag string, err error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.cluster.Config().Host+path, nil)
		if err != nil {
			return "", err
		}
		response, err := learner.Do(request)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return "", fmt.Errorf("%s: %s", path, response.Status)
		}
		return strings.Trim(response.Header.Get("Etag"), `"`), json.NewDecoder(response.Body).Decode(into)
	}
	var list handler3.OpenAPIV3Discovery
	const sails = "apis/documents.example.com/v1"
	until(t, "the document of a new resource", func(ctx context.Context) bool {
		_, err := get(ctx, "/openapi/v3", &list)
		return err == nil && list.Paths[sails].ServerRelativeURL != ""
	})
	// Some of each server in the chain.
	kinds := map[string]string{"api/v1": "Pod", "apis/apps/v1": "Deployment", "apis/apiextensions.k8s.io/v1": "CustomResourceDefinition", "apis/apiregistration.k8s.io/v1": "APIService", sails: "Sail"}
	for name, at := range list.Paths {
		if strings.HasPrefix(name, "apis/lab.example.com") {
			continue // it changes with other tests' definitions
		}
		var document struct {
			Components struct{ Schemas map[string]any }
		}
		etag, err := get(t.Context(), at.ServerRelativeURL, &document)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if u, err := url.Parse(at.ServerRelativeURL); err != nil || u.Query().Get("hash") != etag {
			t.Errorf("%s is listed as %s and has the hash %s", name, at.ServerRelativeURL, etag)
		}
		if kind := kinds[name]; kind != "" && !hasKind(document.Components.Schemas, kind) {
			t.Errorf("%s does not describe a %s", name, kind)
		}
		delete(kinds, name)
	}
	if len(kinds) > 0 {
		t.Errorf("not listed: %v", kinds)
	}
	until(t, "all kinds in the document of version 2", func(ctx context.Context) bool {
		var document struct{ Definitions map[string]any }
		_, err := get(ctx, "/openapi/v2", &document)
		return err == nil && hasKind(document.Definitions, "Pod") && hasKind(document.Definitions, "APIService") && hasKind(document.Definitions, "Sail")
	})
}

func hasKind(schemas map[string]any, kind string) bool {
	for name := range schemas {
		if strings.HasSuffix(name, "."+kind) {
			return true
		}
	}
	return false
}

// typeChecking reads what the controller of policies says of an expression about a field that is not there.
func typeChecking(t *testing.T, l *lab, _ string) {
	client := dynamic.NewForConfigOrDie(l.cluster.LearnerConfig())
	policies := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"}
	create(t, client, policies, "", `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"misspelt"},"spec":{
		"matchConstraints":{"resourceRules":[{"apiGroups":["apps"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["deployments"]}]},
		"validations":[{"expression":"object.spec.replica < 5"}]}}`)
	until(t, "a warning", func(ctx context.Context) bool {
		policy, err := client.Resource(policies).Get(ctx, "misspelt", metav1.GetOptions{})
		return err == nil && strings.Contains(fmt.Sprint(policy.Object["status"]), "undefined field 'replica'")
	})
}
