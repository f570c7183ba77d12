package gateway

import (
	"encoding/base64"
	"encoding/json"
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
	own  bool
	user string // for the record, see Record.User
}

// authenticate returns the caller, or the status to refuse the request with.
func (g *Gateway) authenticate(r *http.Request) (caller, *metav1.Status) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return caller{}, unauthorized("send your bearer token: the kubeconfig of apilab has it (`apilab kubeconfig`)")
	}
	if learner, ok := g.tokens.learner(token); ok {
		return caller{learner: learner, own: true, user: r.Header.Get(authenticationv1.ImpersonateUserHeader)}, nil
	}
	subject, ok := subjectOf(token)
	if !ok {
		return caller{}, unauthorized("the gateway does not know this token: get a new kubeconfig (`apilab kubeconfig`)")
	}
	learner := g.fallback
	if r.TLS != nil {
		if named, ok := g.tokens.named(r.TLS.ServerName); ok {
			learner = named
		}
	}
	if learner == "" {
		return caller{}, unauthorized("the gateway cannot tell whose cluster this token is for: use the kubeconfig of apilab with --token")
	}
	if user := r.Header.Get(authenticationv1.ImpersonateUserHeader); user != "" {
		subject = user
	}
	return caller{learner: learner, user: subject}, nil
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
