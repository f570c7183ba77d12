package assets

import "net/http"

// complete fills in what a handler did not say, by the status code.
func (p ErrorPage) complete() ErrorPage {
	heading, message := "Something went wrong here", "The server could not make this page. Your progress and your cluster are not touched. Load the page again; if it stays, the server's log says why."
	switch p.Code {
	case http.StatusNotFound:
		heading, message = "There is no page at this address", "The link may be old, or the lesson was renamed. Your progress is kept by exercise and is not lost."
	case http.StatusForbidden:
		heading, message = "This page is not yours to open", "The server answered, and refused. Nothing of yours has changed."
	case http.StatusServiceUnavailable:
		heading, message = "The server is not ready yet", "It is starting or stopping. Your work is kept; load the page again in a moment."
	}
	if p.Heading == "" {
		p.Heading = heading
	}
	if p.Message == "" {
		p.Message = message
	}
	if p.Title == "" {
		p.Title = p.Heading
	}
	return p
}
