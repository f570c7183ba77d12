package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	pagesTime    = 2 * time.Second  // for pages to take their goodbye
	requestsTime = 5 * time.Second  // for requests under way
	clustersTime = 20 * time.Second // for clusters to stop; they keep their data if they are killed
)

// Serve answers until ctx ends, then stops everything in order, keeps all data, and returns nil. It serves once.
func (s *Server) Serve(ctx context.Context) error {
	start := func() {} // of clusters that are begun before anybody asks
	if !s.isPublic() {
		local, err := s.hub(s.local)
		if err != nil {
			return errors.Join(err, s.Close())
		}
		start = local.Start // it is nearly ready when its learner has read the first lines
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	gatewayUp, stopGateway := context.WithCancel(context.WithoutCancel(ctx))
	defer stopGateway()

	if err := s.library.follow(s.contentChanged); err != nil { // before the first page, which is told of each change
		s.log.Warn("changes of the content will not be seen", "error", err)
	}

	group, serving := errgroup.WithContext(serving)
	group.Go(func() error {
		serve := s.http.Serve
		switch {
		case s.http.TLSConfig != nil:
			serve = func(l net.Listener) error { return s.http.ServeTLS(l, "", "") }
		case s.isPublic() && !s.o.Public.Secure():
			serve = s.servePlain
		}
		if err := serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve the pages: %w", err)
		}
		return nil
	})
	group.Go(func() error { return s.gateway.Serve(gatewayUp) })
	start()
	if err := s.clearRemoved(ctx); err != nil {
		s.log.Error("look for removed learners", "error", err)
	}

	<-serving.Done() // the caller's wish, or one of the above failed
	s.stopPages()
	s.removals.Wait()
	s.stopHubs()
	stopGateway()
	err := group.Wait()
	clusters, cancel := context.WithTimeout(context.WithoutCancel(ctx), clustersTime)
	defer cancel()
	return errors.Join(err, s.clusters.Close(clusters), s.library.Close(), s.store.Close())
}

// stopPages says goodbye and lets requests end.
func (s *Server) stopPages() {
	s.goAway()
	gone := make(chan struct{})
	go func() {
		s.pages.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(pagesTime):
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestsTime)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		s.http.Close()
	}
}
