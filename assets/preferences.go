package assets

import (
	"net/http"
	"strconv"
)

// NewPage returns a page with what this browser remembers: the colour scheme and the split of the lesson page. The page's
// own code writes these cookies; whatever else they hold is ignored.
func NewPage(r *http.Request, title string) Page {
	p := Page{Title: title}
	if c, err := r.Cookie("apilab-scheme"); err == nil {
		if s := Scheme(c.Value); s == Light || s == Dark {
			p.Scheme = s
		}
	}
	if c, err := r.Cookie("apilab-split"); err == nil {
		if n, err := strconv.Atoi(c.Value); err == nil && n >= 20 && n <= 80 {
			p.Split = n
		}
	}
	return p
}
