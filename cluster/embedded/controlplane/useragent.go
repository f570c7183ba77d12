package controlplane

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apiserver/pkg/server"
)

// components are the names that field managers and audit lines know upstream's components by, by the common name of the
// certificate that each one has. client-go would call all of them after the program that they are parts of.
var components = map[string]string{
	"system:kube-controller-manager": "kube-controller-manager",
	"system:kube-scheduler":          "kube-scheduler",
}

// nameComponents makes the components of this process introduce themselves as upstream's processes do.
func nameComponents(build func(http.Handler, *server.Config) http.Handler) func(http.Handler, *server.Config) http.Handler {
	program := filepath.Base(os.Args[0]) + "/"
	return func(api http.Handler, config *server.Config) http.Handler {
		next := build(api, config)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if rest, ours := strings.CutPrefix(r.UserAgent(), program); ours {
				if name := componentOf(r); name != "" {
					r.Header.Set("User-Agent", name+"/"+rest)
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// componentOf names the sender of a request: by its certificate, or the API server itself, which alone has none. Others
// keep their name: "".
func componentOf(r *http.Request) string {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return "kube-apiserver"
	}
	return components[r.TLS.PeerCertificates[0].Subject.CommonName]
}
