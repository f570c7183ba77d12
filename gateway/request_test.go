package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestNewRecordParsesURLs(t *testing.T) {
	t.Parallel()
	tests := []struct{ method, uri, verb, gvr, subresource, namespace, name string }{
		{"GET", "/api/v1/namespaces", "list", "/v1/namespaces", "", "", ""},
		{"GET", "/api/v1/namespaces/lab", "get", "/v1/namespaces", "", "lab", "lab"},
		{"GET", "/api/v1/namespaces/lab/pods?watch=1", "watch", "/v1/pods", "", "lab", ""},
		{"GET", "/api/v1/watch/namespaces/lab/pods/web", "watch", "/v1/pods", "", "lab", "web"},
		{"GET", "/api/v1/namespaces/lab/pods?fieldSelector=metadata.name%3Dweb&watch=true", "watch", "/v1/pods", "", "lab", "web"},
		{"POST", "/apis/apps/v1/namespaces/lab/deployments", "create", "apps/v1/deployments", "", "lab", ""},
		{"PATCH", "/api/v1/namespaces/lab/pods/web/status", "patch", "/v1/pods", "status", "lab", "web"},
		{"PUT", "/apis/apps/v1/namespaces/lab/deployments/web/scale", "update", "apps/v1/deployments", "scale", "lab", "web"},
		{"DELETE", "/api/v1/namespaces/lab/pods", "deletecollection", "/v1/pods", "", "lab", ""},
		{"GET", "/apis/apps/v1", "get", "//", "", "", ""},
		{"GET", "/healthz", "get", "//", "", "", ""},
		{"OPTIONS", "/", "options", "//", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.uri, func(t *testing.T) {
			t.Parallel()
			r := newRecord(httptest.NewRequest(tt.method, tt.uri, nil), "", time.Now())
			gvr := strings.Join([]string{r.APIGroup, r.APIVersion, r.Resource}, "/")
			if r.Verb != tt.verb || gvr != tt.gvr || r.Subresource != tt.subresource || r.Namespace != tt.namespace || r.Name != tt.name {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestFieldManager(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 100) // 2 bytes each
	tests := map[string]struct{ parameter, agent, want string }{
		"parameter":      {"me", "kubectl/v1", "me"},
		"product":        {"", "kubectl/v1.37.2 (linux/amd64) kubernetes/abc", "kubectl"},
		"no slash":       {"", "curl", "curl"},
		"empty":          {"", "", ""},
		"slash first":    {"", "/x", ""},
		"unprintable":    {"", "a\tb\x00c/1", "abc"},
		"cut at a rune":  {"", long, long[:128]},
		"parameter wins": {long, "x", long},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := fieldManager(tt.parameter, tt.agent); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFieldManagerOfWritesOnly(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]string{"POST": "kubectl-create", "PUT": "kubectl-create", "PATCH": "kubectl-create", "GET": "", "DELETE": ""} {
		r := httptest.NewRequest(method, "/api/v1/namespaces/lab/pods/web", nil)
		r.Header = http.Header{"User-Agent": {"kubectl-create/v1"}}
		if got := newRecord(r, "", time.Now()).FieldManager; got != want {
			t.Errorf("%s: %q, want %q", method, got, want)
		}
	}
}
