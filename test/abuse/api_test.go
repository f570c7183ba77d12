package abuse

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/apilab/apilab/server/protocol"
)

// An api is a learner's API server, through the gateway, as a program that is no kubectl talks to it.
type api struct {
	t      *testing.T
	config *rest.Config
	client *http.Client
}

// api returns the way to the learner's API server by the kubeconfig that the page gives.
func (p *page) api(t *testing.T) *api {
	t.Helper()
	var k protocol.Kubeconfig
	p.get("kubeconfig", nil, &k)
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(k.Text))
	if err != nil {
		t.Fatal(err)
	}
	return newAPI(t, config)
}

func newAPI(t *testing.T, config *rest.Config) *api {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client.Timeout = patience
	return &api{t, config, client}
}

// as is the same API server for another bearer token.
func (a *api) as(token string) *api {
	a.t.Helper()
	config := rest.AnonymousClientConfig(a.config)
	config.BearerToken = token
	return newAPI(a.t, config)
}

// ask sends a request and returns the status code and the body.
func (a *api) ask(method, path, body string, headers ...string) (int, string) {
	a.t.Helper()
	code, text, err := a.try(method, path, body, headers...)
	if err != nil {
		a.t.Fatalf("%s %s: %v", method, path, err)
	}
	return code, text
}

func (a *api) try(method, path, body string, headers ...string) (int, string, error) {
	r, err := http.NewRequestWithContext(context.Background(), method, a.config.Host+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := a.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 16<<20))
	return response.StatusCode, string(text), err
}

// does sends a request that must succeed.
func (a *api) does(method, path, body string) string {
	a.t.Helper()
	code, text := a.ask(method, path, body)
	if code/100 != 2 {
		a.t.Fatalf("%s %s: %d %s", method, path, code, text)
	}
	return text
}
