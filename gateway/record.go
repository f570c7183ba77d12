package gateway

import (
	"encoding/json"
	"net/url"
	"time"
)

// A Record is one request of the learner as the gateway saw it. A subscriber gets a copy when the response headers
// are known, after each watch event, and when it ends (Done).
type Record struct {
	ID       uint64        `json:"id"` // ascending per learner, from 1
	Time     time.Time     `json:"time"`
	Duration time.Duration `json:"duration"` // until now, or until its end
	Done     bool          `json:"done"`

	Method string     `json:"method"`
	Path   string     `json:"path"`
	Query  url.Values `json:"query"`

	// Parsed by k8s.io/apiserver's RequestInfo; empty for non-resource paths, Verb then is the lower-case method.
	Verb        string `json:"verb"`
	APIGroup    string `json:"group"`
	APIVersion  string `json:"version"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`

	ContentType  string `json:"contentType"`
	Accept       string `json:"accept"`
	FieldManager string `json:"fieldManager"` // the fieldManager parameter, else what the server would derive of the user agent
	UserAgent    string `json:"userAgent"`
	User         string `json:"user"` // impersonated user or service account, "" for the learner's own

	RequestBody  json.RawMessage `json:"body,omitempty"` // JSON; YAML, and protobuf of built-in kinds, turned into it; nil if absent, too large or something else
	Status       Status          `json:"status"`
	ResponseBody json.RawMessage `json:"response,omitempty"` // of non-watch responses, as RequestBody
	Events       []Event         `json:"events,omitempty"`   // of a watch, the newest ones
	EventCount   int             `json:"eventCount"`
}

// Status is the outcome of a request.
type Status struct {
	Code    int    `json:"code"`   // HTTP status; of a watch that ended with an ERROR event, that event's code
	Reason  string `json:"reason"` // metav1.StatusReason, e.g. "NotFound"
	Message string `json:"message"`
}

// An Event is one watch event that passed to the learner.
type Event struct {
	Time   time.Time       `json:"time"`
	Type   string          `json:"type"` // ADDED, MODIFIED, DELETED, BOOKMARK, ERROR
	Object json.RawMessage `json:"object"`
}
