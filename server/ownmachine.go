package server

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/gateway"
	"github.com/apilab/apilab/server/store"
)

// ownKubeconfig is the file with which a learner's own kubectl reaches their cluster, until it is revoked.
func (s *Server) ownKubeconfig(ctx context.Context, learner string) ([]byte, error) {
	var at gateway.Address
	if s.isPublic() {
		at.URL = s.o.Public.origin()
		if s.o.Public.CA != nil {
			at.CA = s.o.Public.CA()
		}
	}
	return s.gateway.OwnKubeconfig(ctx, learner, at)
}

// revokeMemberKubeconfig is an instructor's act, for a learner whose file got into other hands.
func (s *Server) revokeMemberKubeconfig(c echo.Context) error {
	class, member, err := s.classMember(c)
	if err != nil {
		return err
	}
	if err := s.revokeKubeconfig(c.Request().Context(), member.ID); err != nil {
		return err
	}
	return s.renderSettings(c, http.StatusOK, class, assets.ClassSettings{Revoked: member.Name})
}

// handler answers at the server's address: with pages, and with clusters beside them where learners come from other machines.
func (s *Server) handler() http.Handler {
	if !s.isPublic() {
		return s.routes()
	}
	return s.gateway.Beside(s.live, s.routes())
}

// servePlain answers on a port of plain HTTP. Clusters have TLS of their own on it, as clients send their token by nothing else.
func (s *Server) servePlain(port net.Listener) error {
	plain, secure := gateway.SplitTLS(port)
	group, ctx := errgroup.WithContext(context.Background())
	group.Go(func() error { return s.http.Serve(plain) })
	group.Go(func() error {
		pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, s.o.Public.link(r.URL.RequestURI()), http.StatusTemporaryRedirect)
		})
		return s.gateway.ServeTLS(ctx, secure, s.gateway.Beside(s.live, pages))
	})
	return group.Wait()
}

// revokeKubeconfig revokes every kubeconfig that a learner got, and cuts what goes on with one. Their terminals go on.
func (s *Server) revokeKubeconfig(ctx context.Context, learner string) error {
	generation, err := s.store.RevokeTokens(ctx, learner)
	if err != nil {
		return err
	}
	s.gateway.Revoke(learner, generation)
	return nil
}

// tokenGeneration is what the gateway asks about who comes from a machine of their own.
func (s *Server) tokenGeneration(ctx context.Context, learner string) (int, error) {
	who, err := s.store.Learner(ctx, learner)
	if err == nil {
		_, err = s.classFor(ctx, who)
	}
	var refused refusal
	switch {
	case errors.Is(err, store.ErrNotFound):
		return 0, gateway.Denied("apilab does not know the learner of this token any more: join again, and get a new kubeconfig")
	case errors.As(err, &refused):
		return 0, gateway.Denied(refused.text)
	case err != nil:
		return 0, err
	}
	return s.store.TokenGeneration(ctx, learner)
}
