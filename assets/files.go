package assets

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"
)

// files serves what vite built.
type files struct {
	dist fs.FS
	gz   map[string]func() ([]byte, error) // compressed once, when first asked for
}

// hashed matches names that carry a hash of the content, which a browser may keep for good.
var hashed = regexp.MustCompile(`-[\w-]{8}\.\w+$`)

func readFiles(dist fs.FS) (*files, error) {
	f := &files{dist: dist, gz: make(map[string]func() ([]byte, error))}
	err := fs.WalkDir(dist, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch path.Ext(name) {
		case ".js", ".css", ".svg", ".json", ".md":
			f.gz[name] = sync.OnceValues(func() ([]byte, error) { return compress(dist, name) })
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list built assets: %w", err)
	}
	return f, nil
}

// Files serves the built files under Prefix, compressed for who accepts gzip.
func (r *Renderer) Files() http.Handler {
	return http.StripPrefix(strings.TrimSuffix(Prefix, "/"), r.files)
}

func (f *files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are possible here", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	data, err := fs.ReadFile(f.dist, name)
	switch {
	case err != nil && errors.Is(err, fs.ErrNotExist), !fs.ValidPath(name), path.Base(name) == ".keep":
		http.NotFound(w, r)
		return
	case err != nil:
		http.Error(w, "this file cannot be read", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", contentType(name))
	h.Set("Cache-Control", "no-cache")
	if hashed.MatchString(name) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("X-Content-Type-Options", "nosniff")
	if zip, ok := f.gz[name]; ok {
		h.Add("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			if z, err := zip(); err == nil {
				h.Set("Content-Encoding", "gzip")
				data = z
			}
		}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// contentType does not ask the operating system's tables, which differ from machine to machine.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	case ".json":
		return "application/json"
	case ".md":
		return "text/plain; charset=utf-8"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}

func compress(dist fs.FS, name string) ([]byte, error) {
	data, err := fs.ReadFile(dist, name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
