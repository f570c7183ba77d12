package server

import (
	"github.com/labstack/echo/v4"
)

// asset serves the built scripts, styles and fonts.
func (s *Server) asset(c echo.Context) error {
	s.assets.ServeHTTP(c.Response(), c.Request())
	return nil
}
