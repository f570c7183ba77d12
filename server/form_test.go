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
	const size = 100 << 10 // more than a form may have, and not so much that the server hangs up before it has read it
	v.ask(http.MethodPost, "/signout", func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.ContentLength = size
		r.Body = io.NopCloser(strings.NewReader(strings.Repeat("a", size)))
	}).wants(t, http.StatusRequestEntityTooLarge)
	v.get("/").wants(t, http.StatusOK)
}
