package server

import (
	"archive/zip"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestNodeLogsOfAClusterThatRuns(t *testing.T) {
	t.Parallel()
	s := start(t)
	if _, err := s.clusters.Claim(t.Context(), localLearner); err != nil {
		t.Fatal(err)
	}
	v := s.learner(t)
	const log = "apilab-local-control-plane/kubelet.log"
	v.get("/cluster/logs").wants(t, http.StatusOK, "Node logs", "What the nodes of your cluster have said", `href="/cluster/logs/`+log+`"`, "1 KiB")
	v.get("/cluster/logs").wants(t, http.StatusOK, log) // collected again
	file := v.get("/cluster/logs/" + log)
	file.wants(t, http.StatusOK, "Starting kubelet <main>")
	if kind := file.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain") {
		t.Errorf("a log is %s", kind)
	}
	for _, path := range []string{"apilab-local-control-plane/passwd", "apilab-local-control-plane", "none", "..%2f..%2fapilab.db", ""} {
		if a := v.get("/cluster/logs/" + path); a.code != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, a.code, a.body)
		}
	}
	a := v.get("/cluster/logs.zip")
	a.wants(t, http.StatusOK)
	archive, err := zip.NewReader(strings.NewReader(a.body), int64(len(a.body)))
	if err != nil || len(archive.File) != 1 || archive.File[0].Name != log {
		t.Fatalf("the archive has %+v, %v", archive, err)
	}
	if f, err := archive.Open(log); err != nil {
		t.Error(err)
	} else if text, _ := io.ReadAll(f); string(text) != "Starting kubelet <main>\n" {
		t.Errorf("in the archive: %q", text)
	}
}

func TestNodeLogsOfNodesThatDidNotStart(t *testing.T) {
	t.Parallel()
	kept := t.TempDir()
	hold := make(chan struct{})
	s := start(t, func(o *Options) { o.NodeLogs = kept; o.provider().hold = hold })
	v := s.learner(t)
	v.get("/cluster/logs").wants(t, http.StatusNotFound, "There are no logs of nodes", "--kind-keep-logs")
	v.get("/cluster/logs.zip").wants(t, http.StatusNotFound)
	write(t, filepath.Join(kept, "somebody-20261130-153000", "kubelet.log"), "not ours")
	write(t, filepath.Join(kept, "local-20261130-152000", "old.log"), "old")
	write(t, filepath.Join(kept, "local-20261130-153000", "kubelet.log"), "it failed")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(kept, "local-20261130-152000"), old, old); err != nil {
		t.Fatal(err)
	}
	a := v.get("/cluster/logs")
	a.wants(t, http.StatusOK, "did not start", "kubelet.log")
	if strings.Contains(a.body, "old.log") {
		t.Error("those of an earlier failure are shown")
	}
	v.get("/cluster/logs/kubelet.log").wants(t, http.StatusOK, "it failed")
}
