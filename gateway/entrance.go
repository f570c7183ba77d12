package gateway

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// Prefix is the path below which the clusters are at a server's public address: /clusters/NAME is an API server's root.
const Prefix = "/clusters/"

// An entrance is the way by which a request came.
type entrance struct {
	public bool   // from beyond this machine
	prefix string // of its path, which is the gateway's own: "/clusters/NAME", or ""
	// learner whose cluster is addressed by TLS server name or path; "" if none is. Only who was given a kubeconfig of
	// theirs has it signed.
	learner string
	signed  bool
}

// whose says how to name the cluster that a service account's token is for.
func (e entrance) whose() string {
	if e.public && e.prefix == "" {
		return "begin the path of this request with that of the server in your kubeconfig"
	}
	return "use the kubeconfig of apilab with --token"
}

// source is where a learner gets a kubeconfig.
func (e entrance) source() string {
	if e.public {
		return "the menu of your cluster in the page has it"
	}
	return "`apilab kubeconfig`"
}

// ServeHTTP is the entrance on this machine.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.serve(w, r, g.byName(r)) }

// byName is the entrance where the TLS server name says whose cluster it is.
func (g *Gateway) byName(r *http.Request) (e entrance) {
	if r.TLS == nil {
		return e
	}
	if learner, ok := g.tokens.named(r.TLS.ServerName); ok {
		e.learner, e.signed = learner, true
	}
	return e
}

// Beside is the entrance at a server's public address: requests to a cluster are the gateway's, all others go to pages. A
// request is to a cluster if its path is below Prefix, or if it has a bearer token, which no page asks for: clients such as
// `kubectl get --raw` leave the path of a kubeconfig's server out, and their token says whose cluster they mean. Cookies
// neither authenticate such a request nor pass. Soon after ctx ends, those under way are cut.
func (g *Gateway) Beside(ctx context.Context, pages http.Handler) http.Handler {
	context.AfterFunc(ctx, func() {
		time.AfterFunc(drainTime, func() { g.cut(errStopped, func(e entrance, _ caller) bool { return e.public }) })
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := g.byName(r)
		e.public = true
		name, path, below := underPrefix(r.URL.EscapedPath())
		switch {
		case below:
			e.prefix = Prefix + name
			e.learner, e.signed = g.tokens.addressed(name)
			if !e.signed {
				e.learner = name
			}
			r = rerooted(r, e.prefix, path)
		case bearer(r) == "":
			pages.ServeHTTP(w, r)
			return
		}
		g.serve(w, r, e)
	})
}

// underPrefix splits a path, as it came, below Prefix.
func underPrefix(escaped string) (name, path string, ok bool) {
	rest, ok := strings.CutPrefix(escaped, Prefix)
	if !ok {
		return "", "", false
	}
	name, path, _ = strings.Cut(rest, "/")
	return name, "/" + path, true
}

// rerooted is the request as the API server is to see it.
func rerooted(r *http.Request, prefix, escaped string) *http.Request {
	inner := r.WithContext(r.Context())
	url := *r.URL
	url.Path, url.RawPath = strings.TrimPrefix(r.URL.Path, prefix), ""
	if url.Path == "" {
		url.Path = "/"
	}
	if r.URL.RawPath != "" {
		url.RawPath = escaped
	}
	inner.URL = &url
	return inner
}
