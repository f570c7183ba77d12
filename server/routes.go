package server

import (
	"io"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/apilab/apilab/assets"
)

// routes is the table of everything that can be asked for over HTTP.
func (s *Server) routes() http.Handler {
	e := echo.New()
	e.Logger.SetOutput(io.Discard) // we log by ourselves
	e.HTTPErrorHandler = s.showError
	e.Use(s.logRequest, recoverPanic, securityHeaders, loopbackOnly, sameOriginOnly)

	e.GET(assets.Prefix+"*", s.asset)
	e.GET("/ws", s.websocket, s.signedIn)

	compressed := middleware.GzipWithConfig(middleware.GzipConfig{MinLength: 1024})
	e.GET("/signin/:code", s.signIn)
	e.GET("/", s.home, compressed, s.signedIn)
	e.GET("/tracks/:track", s.track, compressed, s.signedIn)
	e.GET("/glossary", s.glossary, compressed, s.signedIn)
	e.GET("/reference/:track/:slug", s.reference, compressed, s.signedIn)
	e.GET("/search", s.find, compressed, s.signedIn)
	e.GET("/search.json", s.search, s.signedIn)
	e.GET("/lessons/:track/:slug", s.lesson, compressed, s.signedIn)
	e.GET("/kubeconfig", s.kubeconfig, s.signedIn)
	e.GET("/cluster/logs", s.nodeLogs, compressed, s.signedIn)
	e.GET("/cluster/logs/*", s.nodeLog, compressed, s.signedIn)
	e.GET("/cluster/logs.zip", s.nodeLogsArchive, s.signedIn)
	return e
}
