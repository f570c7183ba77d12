package gateway

import (
	"crypto/tls"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func jwt(payload string) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"RS256"}`)) + "." + encode([]byte(payload)) + "." + encode([]byte("signature"))
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	key, other := tokenKey(strings.Repeat("k", tokenKeySize)), tokenKey(strings.Repeat("o", tokenKeySize))
	robot := jwt(`{"sub":"system:serviceaccount:lab:robot"}`)
	refused, own := caller{}, caller{learner: "ada", own: true}
	tests := map[string]struct {
		authorization, serverName, impersonate, fallback string
		want                                             caller
	}{
		"own":                     {authorization: "Bearer " + key.token(credential{learner: "ada"}), want: own},
		"scheme in lower case":    {authorization: "bearer " + key.token(credential{learner: "ada"}), want: own},
		"own, impersonating":      {authorization: "Bearer " + key.token(credential{learner: "ada"}), impersonate: "jane", want: caller{learner: "ada", own: true, user: "jane"}},
		"a later generation":      {authorization: "Bearer " + key.token(credential{"ada", 12}), want: caller{learner: "ada", own: true, generation: 12}},
		"of a terminal":           {authorization: "Bearer " + key.token(credential{"ada", inside}), want: caller{learner: "ada", own: true, generation: inside}},
		"at its own name":         {authorization: "Bearer " + key.token(credential{learner: "ada"}), serverName: key.serverName("ada"), want: own},
		"at another's name":       {authorization: "Bearer " + key.token(credential{learner: "ada"}), serverName: key.serverName("bob"), want: refused},
		"of a made generation":    {authorization: "Bearer " + strings.Replace(key.token(credential{"ada", 1}), "_1.", "_2.", 1), want: refused},
		"of generation 01":        {authorization: "Bearer " + strings.Replace(key.token(credential{"ada", 1}), "_1.", "_01.", 1), want: refused},
		"without its generation":  {authorization: "Bearer " + strings.Replace(key.token(credential{"ada", 1}), "_1.", "_", 1), want: refused},
		"of another server":       {authorization: "Bearer " + other.token(credential{learner: "ada"}), fallback: "ada", want: refused},
		"of another learner":      {authorization: "Bearer apilab_bob_" + strings.TrimPrefix(key.token(credential{learner: "ada"}), "apilab_ada_"), want: refused},
		"cut short":               {authorization: "Bearer " + key.token(credential{learner: "ada"})[:40], want: refused},
		"longer":                  {authorization: "Bearer " + key.token(credential{learner: "ada"}) + "x", want: refused},
		"no learner":              {authorization: "Bearer " + key.token(credential{}), want: refused},
		"nothing":                 {fallback: "ada", want: refused},
		"basic":                   {authorization: "Basic YWRhOmFkYQ==", fallback: "ada", want: refused},
		"empty":                   {authorization: "Bearer ", fallback: "ada", want: refused},
		"service account":         {authorization: "Bearer " + robot, serverName: key.serverName("bob"), fallback: "ada", want: caller{learner: "bob", user: "system:serviceaccount:lab:robot"}},
		"account, no server name": {authorization: "Bearer " + robot, fallback: "ada", want: caller{learner: "ada", user: "system:serviceaccount:lab:robot"}},
		"account, hyphens":        {authorization: "Bearer " + robot, serverName: key.serverName("a-b"), want: caller{learner: "a-b", user: "system:serviceaccount:lab:robot"}},
		"account, forged name":    {authorization: "Bearer " + robot, serverName: other.serverName("bob"), want: refused},
		"account, unsigned name":  {authorization: "Bearer " + robot, serverName: "bob.apilab.internal", want: refused},
		"account, another name":   {authorization: "Bearer " + robot, serverName: "localhost", want: refused},
		"account, whose":          {authorization: "Bearer " + robot, want: refused},
		"account, impersonating":  {authorization: "Bearer " + robot, fallback: "ada", impersonate: "jane", want: caller{learner: "ada", user: "jane"}},
		"no subject":              {authorization: "Bearer " + jwt(`{}`), fallback: "ada", want: refused},
		"no payload":              {authorization: "Bearer a.b.c", fallback: "ada", want: refused},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &Gateway{tokens: key, fallback: tt.fallback}
			r := httptest.NewRequest("GET", "/api", nil)
			r.TLS = &tls.ConnectionState{ServerName: tt.serverName}
			r.Header.Set("Authorization", tt.authorization)
			r.Header.Set("Impersonate-User", tt.impersonate)
			got, refusal := g.authenticate(r, g.byName(r))
			if got != tt.want || (refusal != nil) != (tt.want == refused) {
				t.Errorf("got %+v, %+v", got, refusal)
			}
		})
	}
}

func TestUnknownTokenReachesNoAPIServer(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(http.ResponseWriter, *http.Request) { t.Error("the API server was asked") })
	r := b.request(t, "GET", "/api/v1/secrets", nil)
	r.Header.Set("Authorization", "Bearer nonsense")
	response, body := b.do(t, r)
	if s := statusOf(t, body); response.StatusCode != http.StatusUnauthorized || s.Reason != metav1.StatusReasonUnauthorized {
		t.Errorf("%d %+v", response.StatusCode, s)
	}
	if records := b.Recorder(learner).Records(); len(records) != 0 {
		t.Errorf("it was recorded: %+v", records)
	}
}

// A service account's token must come to the API server alone: beside the learner's client certificate it would be ignored.
func TestServiceAccountTokenIsTheOnlyIdentity(t *testing.T) {
	t.Parallel()
	robot := "Bearer " + jwt(`{"sub":"system:serviceaccount:lab:robot"}`)
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != robot {
			t.Errorf("the API server saw %q", r.Header.Get("Authorization"))
		}
		if len(r.TLS.PeerCertificates) != 0 {
			t.Error("the learner's certificate came with it")
		}
	})
	b.server.TLS.ClientAuth = tls.RequestClientCert
	config := configOf(b.server)
	config.BearerToken = ""
	config.CertData, config.KeyData = b.keyPair(t)
	b.clusters.set(learner, config)

	r := b.request(t, "GET", "/api/v1/pods", nil)
	r.Header.Set("Authorization", robot)
	if response, body := b.do(t, r); response.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", response.StatusCode, body)
	}
	if got := b.records(t, 1)[0].User; got != "system:serviceaccount:lab:robot" {
		t.Errorf("recorded user %q", got)
	}
}

func TestLearnersReachTheirOwnCluster(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("local's")) })
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("bob's")) }))
	t.Cleanup(other.Close)
	b.clusters.set("bob", configOf(other))
	for id, want := range map[string]string{"local": "local's", "bob": "bob's"} {
		r := b.request(t, "GET", "/version", nil)
		r.Header.Set("Authorization", "Bearer "+b.tokens.token(credential{learner: id}))
		if _, body := b.do(t, r); body != want {
			t.Errorf("%s reached %s", id, body)
		}
		if n := len(b.Recorder(id).Records()); n != 1 {
			t.Errorf("%d requests of %s are recorded", n, id)
		}
	}
}
