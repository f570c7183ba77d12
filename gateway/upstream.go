package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/cluster"
)

// An upstream is a learner's API server, and the connections to it.
type upstream struct {
	cluster cluster.Cluster // whose upstream it is: a new one after a reset
	base    *url.URL
	learner route // with the learner's identity
	bare    route // with no identity but the token that the request brings
}

// A route is one identity towards an API server. Upgrades need HTTP/1.1, everything else shares one HTTP/2 connection.
type route struct {
	requests, upgrades http.RoundTripper
	pools              []*http.Transport
}

// errDial says that no connection was made, so that nothing was sent either.
var errDial = errors.New("connect to the API server")

func newUpstream(c cluster.Cluster) (*upstream, error) {
	config := rest.CopyConfig(c.LearnerConfig())
	// The learner's own user agent, even if there is none, decides about the field manager.
	config.UserAgent = ""
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("the address of cluster %s: %w", c.ID(), err)
	}
	u := &upstream{cluster: c, base: base}
	if u.learner, err = newRoute(config); err != nil {
		return nil, fmt.Errorf("connect to cluster %s: %w", c.ID(), err)
	}
	if u.bare, err = newRoute(rest.AnonymousClientConfig(config)); err != nil {
		return nil, fmt.Errorf("connect to cluster %s: %w", c.ID(), err)
	}
	return u, nil
}

func newRoute(config *rest.Config) (route, error) {
	security, err := rest.TLSConfigFor(config)
	if err != nil {
		return route{}, err
	}
	var r route
	if r.requests, err = r.transport(config, security, true); err != nil {
		return route{}, err
	}
	if r.upgrades, err = r.transport(config, security, false); err != nil {
		return route{}, err
	}
	return r, nil
}

func (r *route) transport(config *rest.Config, security *tls.Config, http2 bool) (http.RoundTripper, error) {
	dial := config.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	}
	t := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errDial, err)
			}
			return conn, nil
		},
		DisableCompression:  true, // what the client did not ask for, it shall not get
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
		Protocols:           new(http.Protocols),
	}
	t.Protocols.SetHTTP1(true)
	t.Protocols.SetHTTP2(http2)
	if security != nil {
		t.TLSClientConfig = security.Clone()
		t.TLSClientConfig.NextProtos = nil // follows from Protocols
	}
	r.pools = append(r.pools, t)
	return rest.HTTPWrappersForConfig(config, t)
}

func (r *route) close() {
	for _, t := range r.pools {
		t.CloseIdleConnections()
	}
}

func (u *upstream) close() {
	u.learner.close()
	u.bare.close()
}

// send sends a request on, to the same path of the API server.
func (u *upstream) send(r *http.Request, own, upgrade bool) (*http.Response, error) {
	out := r.WithContext(r.Context()) // a shallow copy: a RoundTripper leaves its request as it is
	target := *r.URL
	target.Scheme, target.Host = u.base.Scheme, u.base.Host
	if u.base.Path != "" && u.base.Path != "/" {
		target = *u.base.JoinPath(r.URL.EscapedPath())
		target.RawQuery = r.URL.RawQuery
	}
	out.URL = &target
	identity := &u.bare
	if own {
		identity = &u.learner
		out.Header = r.Header.Clone()
		out.Header.Del("Authorization")
	}
	if upgrade {
		return identity.upgrades.RoundTrip(out)
	}
	return identity.requests.RoundTrip(out)
}

// upstreamOf returns the learner's API server; it starts it when it is down and waits, as long as ctx, until it is ready.
// The error is for the learner.
func (g *Gateway) upstreamOf(ctx context.Context, learner string) (*upstream, error) {
	c, ready := g.clusters.Get(learner)
	if !ready {
		status := g.clusters.Status(learner)
		if status.State == cluster.Failed {
			return nil, notReady(status)
		}
		var err error
		if c, err = g.clusters.Claim(ctx, learner); err != nil {
			g.log.Debug("a request found no cluster", "learner", learner, "error", err)
			return nil, notReady(g.clusters.Status(learner))
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	old := g.upstreams[learner]
	if old != nil && old.cluster == c {
		return old, nil
	}
	u, err := newUpstream(c)
	if err != nil {
		return nil, err
	}
	g.upstreams[learner] = u
	if old != nil {
		old.close()
	}
	return u, nil
}

func (g *Gateway) closeUpstreams() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, u := range g.upstreams {
		u.close()
	}
	clear(g.upstreams)
}
