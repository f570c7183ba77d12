package content

import (
	"net/url"
	"path"
	"strings"
)

// lessonURL is where the server shows a lesson.
func lessonURL(id string) string { return "/lessons/" + id }

// isExternal reports whether a link leaves the site.
func isExternal(dest string) bool {
	u, err := url.Parse(dest)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http")
}

// referenceURL is where the server shows a reference page.
func referenceURL(id string) string { return "/reference/" + id }

// A target is where a link inside the curriculum leads.
type target struct {
	line   int
	page   string // its URL; "": the same page
	name   string // of page, in words
	anchor string // heading's ID; "": the top
}

// resolve takes a link as a lesson's file writes it, "../02-slug/index.md#anchor" or "#anchor", which works on a Git
// host too, and returns what it leads to and the URL for the page. message says what is wrong with it. A link to another
// site is returned as it is, without a target.
func resolve(file, dest string) (url_ string, t *target, message string) {
	u, err := url.Parse(dest)
	switch {
	case err != nil:
		return dest, nil, "is not a URL"
	case u.Scheme == "https" || u.Scheme == "mailto":
		return dest, nil, ""
	case u.Scheme == "http":
		return dest, nil, "should be https"
	case u.Scheme != "" || u.Host != "":
		return dest, nil, "should be an https URL, or the path of a lesson's index.md"
	case u.Path == "" && u.Fragment == "":
		return dest, nil, "leads nowhere"
	case u.Path == "":
		return dest, &target{anchor: u.Fragment}, ""
	case strings.HasPrefix(u.Path, "/"):
		return dest, nil, "should be relative, for example ../02-slug/index.md, so that it works on a Git host too"
	}
	elements := strings.Split(path.Join(path.Dir(file), u.Path), "/")
	if len(elements) != 3 {
		return dest, nil, "is no lesson's index.md"
	}
	t = &target{anchor: u.Fragment}
	lesson, reference := lessonDir.FindStringSubmatch(elements[1]), referenceFile.FindStringSubmatch(elements[2])
	switch {
	case lesson != nil && elements[2] == "index.md":
		id := elements[0] + "/" + lesson[2]
		t.page, t.name = lessonURL(id), "lesson "+id
	case elements[1] == referenceDir && reference != nil:
		id := elements[0] + "/" + reference[1]
		t.page, t.name = referenceURL(id), "reference page "+id
	default:
		return dest, nil, "is no lesson's index.md"
	}
	to := url.URL{Path: t.page, Fragment: u.Fragment}
	return to.String(), t, ""
}
