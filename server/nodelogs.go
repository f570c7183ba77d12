package server

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/cluster"
)

// collectTime is how long the nodes may take to give their logs.
const collectTime = time.Minute

// nodeLogs shows what the nodes of the learner's cluster log: of the one that runs as it is now, else of one that did not
// start, where the backend was told to keep that.
func (s *Server) nodeLogs(c echo.Context) error {
	learner := learnerOf(c).ID
	if err := s.collectNodeLogs(c.Request().Context(), learner); err != nil {
		return err
	}
	logs, err := s.newestNodeLogs(learner)
	if err != nil {
		return err
	}
	page := assets.NodeLogs{Page: s.page(c, "Node logs"), At: logs.at, Failed: logs.failed}
	err = logs.walk(func(name string, info fs.FileInfo) error {
		link := url.URL{Path: "/cluster/logs/" + name}
		page.Files = append(page.Files, assets.LogFile{Link: assets.Link{URL: link.EscapedPath(), Title: name}, Bytes: info.Size()})
		return nil
	})
	if err != nil {
		return err
	}
	return s.html(c, http.StatusOK, func(w *bytes.Buffer) error { return s.renderer.NodeLogs(w, page) })
}

// nodeLog is one file of those that nodeLogs has listed.
func (s *Server) nodeLog(c echo.Context) error {
	logs, err := s.newestNodeLogs(learnerOf(c).ID)
	if err != nil {
		return err
	}
	name, err := url.PathUnescape(c.Param("*"))
	if err != nil {
		return echo.ErrNotFound
	}
	f, err := os.OpenInRoot(logs.dir, filepath.FromSlash(name))
	if err != nil {
		return echo.ErrNotFound
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return echo.ErrNotFound
	}
	c.Response().Header().Set(echo.HeaderContentType, echo.MIMETextPlainCharsetUTF8)
	http.ServeContent(c.Response(), c.Request(), "", logs.at, f)
	return nil
}

// nodeLogsArchive is all that nodeLogs has listed, to be kept or sent to somebody.
func (s *Server) nodeLogsArchive(c echo.Context) error {
	logs, err := s.newestNodeLogs(learnerOf(c).ID)
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "application/zip")
	h.Set(echo.HeaderContentDisposition, fmt.Sprintf(`attachment; filename="apilab-node-logs-%s.zip"`, logs.at.Format("20060102-150405")))
	archive := zip.NewWriter(c.Response())
	err = logs.walk(func(name string, info fs.FileInfo) error {
		f, err := os.OpenInRoot(logs.dir, filepath.FromSlash(name))
		if err != nil {
			return err
		}
		defer f.Close()
		w, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: info.ModTime()})
		if err != nil {
			return err
		}
		_, err = io.Copy(w, f)
		return err
	})
	return errors.Join(err, archive.Close())
}

// collectNodeLogs takes the logs of a cluster that runs, in place of those taken before.
func (s *Server) collectNodeLogs(ctx context.Context, learner string) error {
	up, _ := s.clusters.Get(learner)
	source, ok := up.(cluster.Logs)
	if !ok {
		return nil
	}
	s.collecting.Lock()
	defer s.collecting.Unlock()
	ctx, cancel := context.WithTimeout(ctx, collectTime)
	defer cancel()
	dir := s.nodeLogsDir(learner)
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove older node logs: %w", err)
	}
	if err := source.CollectLogs(ctx, dir); err != nil {
		return fmt.Errorf("collect the logs of the nodes: %w", err)
	}
	return nil
}

func (s *Server) nodeLogsDir(learner string) string {
	return filepath.Join(s.learnerDir(learner), "node-logs")
}

// collected are logs of nodes.
type collected struct {
	dir    string
	at     time.Time
	failed bool
}

// newestNodeLogs finds those that were taken last.
func (s *Server) newestNodeLogs(learner string) (collected, error) {
	all := []string{s.nodeLogsDir(learner)}
	kept, err := os.ReadDir(s.o.NodeLogs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return collected{}, fmt.Errorf("look for node logs: %w", err)
	}
	for _, entry := range kept {
		if strings.HasPrefix(entry.Name(), learner+"-") {
			all = append(all, filepath.Join(s.o.NodeLogs, entry.Name()))
		}
	}
	var found []collected
	for i, dir := range all {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			found = append(found, collected{dir, info.ModTime(), i > 0})
		}
	}
	if len(found) == 0 {
		return collected{}, refusal{code: http.StatusNotFound, text: "There are no logs of nodes. A kind cluster has them as long as it runs; " +
			"those of nodes that did not start are kept when apilab is started with --kind-keep-logs. The nodes of the embedded cluster are simulated and write none."}
	}
	return slices.MaxFunc(found, func(a, b collected) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.dir, b.dir)) }), nil
}

// walk calls each for every log, by its path with slashes.
func (l collected) walk(each func(name string, info fs.FileInfo) error) error {
	return fs.WalkDir(os.DirFS(l.dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return each(name, info)
	})
}
