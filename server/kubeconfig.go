package server

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// kubeconfig gives the file with which the learner's own kubectl reaches their cluster.
func (s *Server) kubeconfig(c echo.Context) error {
	file, err := s.ownKubeconfig(c.Request().Context(), learnerOf(c).ID)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="apilab.kubeconfig"`)
	return c.Blob(http.StatusOK, "application/yaml", file)
}
