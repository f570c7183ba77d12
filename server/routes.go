package server

import (
	"io"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/apilab/apilab/assets"
)

// maxForm bounds what a page sends in one request: anybody may, and what is large would fill memory and disk.
const maxForm = "64K"

// routes is the table of everything that can be asked for over HTTP.
func (s *Server) routes() http.Handler {
	e := echo.New()
	e.Logger.SetOutput(io.Discard) // we log by ourselves
	e.HTTPErrorHandler = s.showError
	e.IPExtractor = s.addresses()
	hosts := loopbackOnly
	if s.isPublic() {
		hosts = s.ownHosts
	}
	e.Use(s.logRequest, recoverPanic, securityHeaders, hosts, s.sameOriginOnly(), middleware.BodyLimit(maxForm))

	e.GET(assets.Prefix+"*", s.asset)
	e.GET("/ws", s.websocket, s.signedIn)

	compressed := middleware.GzipWithConfig(middleware.GzipConfig{MinLength: 1024})
	e.GET("/signin/:code", s.signIn)
	e.POST("/signout", s.signOut, s.signedIn)
	e.GET("/", s.home, compressed, s.signedIn, s.learns)
	e.GET("/tracks/:track", s.track, compressed, s.signedIn, s.learns)
	e.GET("/glossary", s.glossary, compressed, s.signedIn, s.learns)
	e.GET("/reference/:track/:slug", s.reference, compressed, s.signedIn, s.learns)
	e.GET("/search", s.find, compressed, s.signedIn, s.learns)
	e.GET("/search.json", s.search, s.signedIn, s.learns)
	e.GET("/lessons/:track/:slug", s.lesson, compressed, s.signedIn, s.learns)
	e.GET("/kubeconfig", s.kubeconfig, s.signedIn, s.learns)
	e.GET("/cluster/logs", s.nodeLogs, compressed, s.signedIn, s.learns)
	e.GET("/cluster/logs/*", s.nodeLog, compressed, s.signedIn, s.learns)
	e.GET("/cluster/logs.zip", s.nodeLogsArchive, s.signedIn, s.learns)
	if s.isPublic() {
		s.classRoutes(e, compressed)
	}
	return e
}

// classRoutes are those that only a server of classes has.
func (s *Server) classRoutes(e *echo.Echo, compressed echo.MiddlewareFunc) {
	e.GET("/join", s.joinPage)
	e.GET("/join/:code", s.joinPage)
	e.POST("/join", s.join)
	e.POST("/join/back", s.comeBack)
	e.POST("/signin/:code", s.redeemSignIn)
	e.GET("/me", s.account, s.signedIn)
	e.POST("/me/code", s.newOwnCode, s.signedIn)

	people := e.Group("/people", s.signedIn, administers)
	people.GET("", s.people)
	people.POST("", s.addPerson)
	people.POST("/:person/link", s.newLink)
	people.POST("/:person/role", s.setRole)
	people.POST("/:person/signout", s.signOutPerson)

	classes := e.Group("/classes", s.signedIn, teaches)
	classes.GET("", s.classes)
	classes.POST("", s.addClass)
	classes.GET("/new", s.newClass)
	classes.GET("/:class", s.classroomPage, compressed)
	classes.GET("/:class/progress.csv", s.progressCSV, compressed)
	classes.GET("/:class/progress.json", s.progressJSON, compressed)
	classes.GET("/:class/join", s.classInvitation)
	classes.POST("/:class/code", s.newJoinCode)
	classes.GET("/:class/settings", s.classSettings, compressed)
	classes.POST("/:class/settings", s.saveClass)
	classes.POST("/:class/delete", s.deleteClass)
	classes.POST("/:class/members/:learner/code", s.newMemberCode)
	classes.POST("/:class/members/:learner/kubeconfig", s.revokeMemberKubeconfig)
	classes.POST("/:class/members/:learner/remove", s.removeMember)
}
