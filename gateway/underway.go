package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// recheckTime is how often long requests are looked at again: whose token still holds may change elsewhere.
const recheckTime = time.Minute

// Denied is an error of Options.Generation: why a learner may not reach their cluster, in a sentence for them.
type Denied string

func (d Denied) Error() string { return string(d) }

// errRevoked is why a request under way was cut.
var errRevoked = errors.New("the token was revoked")

// underway is a request that can be cut.
type underway struct {
	entrance entrance
	caller   caller
	cut      context.CancelCauseFunc
	again    *time.Timer // looks at it again
}

// begin keeps a request among those under way until done.
func (g *Gateway) begin(parent context.Context, e entrance, who caller) (ctx context.Context, done func()) {
	ctx, cut := context.WithCancelCause(parent)
	u := &underway{entrance: e, caller: who, cut: cut}
	g.mu.Lock()
	u.again = time.AfterFunc(recheckTime, func() { g.recheck(ctx, u) })
	g.underway[u] = true
	g.mu.Unlock()
	return ctx, func() {
		u.again.Stop()
		g.mu.Lock()
		delete(g.underway, u)
		g.mu.Unlock()
		cut(nil)
	}
}

// recheck cuts a request whose token no longer holds.
func (g *Gateway) recheck(ctx context.Context, u *underway) {
	if ctx.Err() != nil {
		return
	}
	if refusal := g.revoked(ctx, u.entrance, u.caller); refusal != nil && refusal.Code != http.StatusServiceUnavailable {
		u.cut(errRevoked)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	u.again.Reset(recheckTime)
}

// cut ends requests under way, watches and upgraded connections among them.
func (g *Gateway) cut(cause error, which func(entrance, caller) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for u := range g.underway {
		if which(u.entrance, u.caller) {
			u.cut(cause)
		}
	}
}

// Revoke ends what is under way with a learner's own tokens of another generation than this one. It is called when the
// generation was raised: a request that began before is among those under way, and one that begins after is refused.
func (g *Gateway) Revoke(learner string, generation int) {
	g.cut(errRevoked, func(_ entrance, c caller) bool {
		return c.own && c.learner == learner && c.generation != inside && c.generation != generation
	})
}

// revoked returns the status to refuse a request with whose sender may not reach the cluster, or no longer with this token.
// What comes from a terminal is let through: terminals end when their learner may no longer have one.
func (g *Gateway) revoked(ctx context.Context, e entrance, who caller) *metav1.Status {
	if who.generation == inside || !who.own && !e.public {
		return nil
	}
	var denied Denied
	valid, err := g.generation(ctx, who.learner)
	switch {
	case errors.As(err, &denied):
		return forbidden(string(denied))
	case err != nil:
		if ctx.Err() == nil {
			g.log.Error("look up the generation of a learner's tokens", "learner", who.learner, "error", err)
		}
		return unavailable("apilab could not look up whether this token is valid; try again in a moment")
	case who.own && valid != who.generation:
		return outdated(e)
	}
	return nil
}

// outdated is no 401, whose message clients replace by one of their own.
func outdated(e entrance) *metav1.Status {
	return forbidden("this kubeconfig was revoked: get a new one (" + e.source() + ")")
}
