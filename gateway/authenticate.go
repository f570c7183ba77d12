package gateway

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A caller is who sends a request, and how the API server gets to know it.
type caller struct {
	learner string // whose cluster it is for
	// own: the learner's token, which the gateway replaces by the learner's identity. Otherwise the token is a service
	// account's, and passes through for the API server to judge.
	own        bool
	generation int    // of their own token
	user       string // for the record, see Record.User
}

// authenticate returns the caller, or the status to refuse the request with. Whether the generation of their token is the
// valid one is for the caller of it to find out.
func (g *Gateway) authenticate(r *http.Request, e entrance) (caller, *metav1.Status) {
	token := bearer(r)
	if token == "" {
		return caller{}, unauthorized("send your bearer token: the kubeconfig of apilab has it (" + e.source() + ")")
	}
	impersonated := r.Header.Get(authenticationv1.ImpersonateUserHeader)
	if c, ok := g.tokens.read(token); ok {
		switch {
		case e.public && c.generation == inside:
			return caller{}, unauthorized("this token is for the terminals in your page alone: get a kubeconfig of your own (" + e.source() + ")")
		case e.learner != "" && e.learner != c.learner:
			return caller{}, forbidden(fmt.Sprintf("this token is for the cluster of %s, and the address names that of %s: use a kubeconfig as you got it", c.learner, e.learner))
		}
		return caller{learner: c.learner, own: true, generation: c.generation, user: impersonated}, nil
	}
	subject, ok := subjectOf(token)
	if !ok {
		return caller{}, unauthorized("the gateway does not know this token: get a new kubeconfig (" + e.source() + ")")
	}
	learner := e.learner
	switch {
	case learner == "" && !e.public:
		learner = g.fallback
	case !e.signed:
		learner = ""
	}
	if learner == "" {
		return caller{}, unauthorized("the gateway cannot tell whose cluster this token is for: " + e.whose())
	}
	if impersonated != "" {
		subject = impersonated
	}
	return caller{learner: learner, user: subject}, nil
}

// bearer is the token that a request carries, or "".
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// subjectOf reads the subject of a JSON web token without judging it, such as "system:serviceaccount:default:robot". ok is
// false where the token is none.
func subjectOf(token string) (subject string, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", false
	}
	var claims struct {
		Subject string `json:"sub"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return "", false
	}
	return claims.Subject, claims.Subject != ""
}
