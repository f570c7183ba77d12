package gateway

import (
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// maxFieldManager is the bound on a field manager's name, in bytes (apimachinery, FieldManagerMaxLength).
const maxFieldManager = 128

// requestInfo parses URLs as an API server with the default prefixes does.
var requestInfo = request.RequestInfoFactory{
	APIPrefixes:          map[string]sets.Empty{"api": {}, "apis": {}},
	GrouplessAPIPrefixes: map[string]sets.Empty{"api": {}},
}

// newRecord says what is known of a request before it is answered.
func newRecord(r *http.Request, user string, now time.Time) Record {
	record := Record{
		Time:        now,
		Method:      r.Method,
		Path:        r.URL.Path,
		Query:       r.URL.Query(),
		Verb:        strings.ToLower(r.Method),
		ContentType: r.Header.Get("Content-Type"),
		Accept:      r.Header.Get("Accept"),
		UserAgent:   r.UserAgent(),
		User:        user,
	}
	// A URL that cannot be parsed stays a non-resource request; the API server says what is wrong with it.
	if info, err := requestInfo.NewRequestInfo(r); err == nil {
		record.Verb = info.Verb
		if info.IsResourceRequest {
			record.APIGroup = info.APIGroup
			record.APIVersion = info.APIVersion
			record.Resource = info.Resource
			record.Subresource = info.Subresource
			record.Namespace = info.Namespace
			record.Name = info.Name
		}
	}
	switch record.Verb {
	case "create", "update", "patch":
		record.FieldManager = fieldManager(record.Query.Get("fieldManager"), record.UserAgent)
	}
	return record
}

// fieldManager is the manager that the API server enters into managedFields: the parameter, else what stands before the
// first slash of the user agent, without unprintable characters (apiserver, endpoints/handlers, managerOrUserAgent).
func fieldManager(parameter, userAgent string) string {
	if parameter != "" {
		return parameter
	}
	product, _, _ := strings.Cut(userAgent, "/")
	var name strings.Builder
	for _, r := range product {
		if !unicode.IsPrint(r) {
			continue
		}
		if name.Len()+utf8.RuneLen(r) > maxFieldManager {
			break
		}
		name.WriteRune(r)
	}
	return name.String()
}
