package gateway

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrNoLearner is what Options.Generation returns for someone who was never there, or is no more.
var ErrNoLearner = errors.New("there is no such learner")

// errRevoked is why a request under way was cut.
var errRevoked = errors.New("the token was revoked")

// underway is a request that can be cut.
type underway struct {
	entrance entrance
	caller   caller
	cut      context.CancelCauseFunc
}

// begin keeps a request among those under way until done.
func (g *Gateway) begin(parent context.Context, e entrance, who caller) (ctx context.Context, done func()) {
	ctx, cut := context.WithCancelCause(parent)
	u := &underway{e, who, cut}
	g.mu.Lock()
	g.underway[u] = true
	g.mu.Unlock()
	return ctx, func() {
		g.mu.Lock()
		delete(g.underway, u)
		g.mu.Unlock()
		cut(nil)
	}
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

// revoked returns the status to refuse a request with whose token is of another generation than the learner's.
func (g *Gateway) revoked(ctx context.Context, e entrance, who caller) *metav1.Status {
	if !who.own || who.generation == inside {
		return nil
	}
	valid, err := g.generation(ctx, who.learner)
	switch {
	case errors.Is(err, ErrNoLearner):
		return unauthorized("the learner of this token is no longer known here: join again, and get a new kubeconfig")
	case err != nil:
		g.log.Error("look up the generation of a learner's tokens", "learner", who.learner, "error", err)
		return unavailable("apilab could not look up whether this token is valid; try again in a moment")
	case valid != who.generation:
		return outdated(e)
	}
	return nil
}

func outdated(e entrance) *metav1.Status {
	return unauthorized("this kubeconfig was revoked: get a new one (" + e.source() + ")")
}
