package server

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestHugeFormsAreRefused(t *testing.T) {
	t.Parallel()
	v := start(t).learner(t)
	v.ask(http.MethodPost, "/signout", func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.ContentLength = 1 << 20
		r.Body = io.NopCloser(strings.NewReader(strings.Repeat("a", 1<<20)))
	}).wants(t, http.StatusRequestEntityTooLarge)
	v.get("/").wants(t, http.StatusOK)
}
