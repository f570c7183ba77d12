package server

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/server/classroom"
)

// progressCSV gives a class's progress to a spreadsheet.
func (s *Server) progressCSV(c echo.Context) error {
	export, err := s.export(c, "csv")
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := export.WriteCSV(&file); err != nil {
		return err
	}
	return c.Blob(http.StatusOK, "text/csv; charset=utf-8", file.Bytes())
}

// progressJSON gives a class's progress to a program.
func (s *Server) progressJSON(c echo.Context) error {
	export, err := s.export(c, "json")
	if err != nil {
		return err
	}
	return c.JSONPretty(http.StatusOK, export, "  ")
}

func (s *Server) export(c echo.Context, kind string) (classroom.Export, error) {
	ctx := c.Request().Context()
	class, err := s.ownClass(ctx, learnerOf(c).ID, c.Param("class"))
	if err != nil {
		return classroom.Export{}, err
	}
	room, err := s.rooms.Room(ctx, class.ID)
	if err != nil {
		return classroom.Export{}, err
	}
	export := room.Export()
	name := fmt.Sprintf("apilab-%s-%s.%s", fileName(class.Name), export.At.Format("2006-01-02-1504"), kind)
	c.Response().Header().Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=%q", name))
	return export, nil
}

// fileName is what is left of a name that every system takes in a file's.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			return r
		default:
			return '-'
		}
	}, name)
	return strings.Trim(name[:min(len(name), 40)], "-")
}
