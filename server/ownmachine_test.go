package server

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

var kubeconfigFields = regexp.MustCompile(`(?s)server: https://([^/\s]+)(/clusters/\S+).*token: (\S+)`)

// asks sends a request to the cluster of a kubeconfig.
func (v *visitor) asks(t *testing.T, kubeconfig, path string) answer {
	t.Helper()
	fields := kubeconfigFields.FindStringSubmatch(kubeconfig)
	if fields == nil || fields[1] != v.server.Addr() {
		t.Fatalf("the kubeconfig leads to no cluster of this server:\n%s", kubeconfig)
	}
	return v.get(fields[2]+path, header("Authorization", "Bearer "+fields[3]), header("Accept", "application/json"))
}

func TestOwnMachineOfALearner(t *testing.T) {
	t.Parallel()
	s := startPublic(t)
	grace := s.instructor(t, "Grace")
	class := grace.newClass(t, url.Values{"name": {"Tuesday"}, "capacity": {"2"}})
	code := grace.joinCode(t, class)
	ada, _ := s.join(t, code, "Ada")
	const namespaces = "/api/v1/namespaces"
	stranger := s.visitor(t) // programs have no cookies

	first := ada.get("/kubeconfig").body
	stranger.asks(t, first, namespaces).wants(t, http.StatusOK, "NamespaceList")
	stranger.get(kubeconfigFields.FindStringSubmatch(first)[2]+namespaces).wants(t, http.StatusUnauthorized, "send your bearer token")
	ada.get(kubeconfigFields.FindStringSubmatch(first)[2]+namespaces).wants(t, http.StatusUnauthorized, `"kind":"Status"`)

	// Each way of taking the file back.
	kubeconfigPath := strings.Replace(grace.memberPath(t, class, "Ada"), "remove", "kubeconfig", 1)
	grace.post(kubeconfigPath, nil).wants(t, http.StatusOK, "The kubeconfigs of <strong>Ada</strong> no longer work")
	stranger.asks(t, first, namespaces).wants(t, http.StatusForbidden, "this kubeconfig was revoked")
	second := ada.get("/kubeconfig").body
	stranger.asks(t, second, namespaces).wants(t, http.StatusOK)
	ada.open(t).get("kubeconfig", map[string]any{"renew": true}, nil)
	stranger.asks(t, second, namespaces).wants(t, http.StatusForbidden, "revoked")
	third := ada.get("/kubeconfig").body
	stranger.asks(t, third, namespaces).wants(t, http.StatusOK)
	ada.post("/signout", url.Values{"everywhere": {"yes"}}).wants(t, http.StatusSeeOther)
	stranger.asks(t, third, namespaces).wants(t, http.StatusForbidden, "revoked")

	bob, _ := s.join(t, code, "Bob")
	file := bob.get("/kubeconfig").body
	ended := url.Values{"name": {"Tuesday"}, "capacity": {"2"}, "starts": {"2020-01-01T10:00"}, "ends": {"2020-01-02T10:00"}}
	grace.post(class+"/settings", ended).wants(t, http.StatusSeeOther)
	stranger.asks(t, file, namespaces).wants(t, http.StatusForbidden, "Tuesday ended on")
	ended.Set("ends", time.Now().Add(time.Hour).Format(dateFormat))
	grace.post(class+"/settings", ended).wants(t, http.StatusSeeOther)
	stranger.asks(t, file, namespaces).wants(t, http.StatusOK)
	grace.post(grace.memberPath(t, class, "Bob"), nil).wants(t, http.StatusSeeOther)
	stranger.asks(t, file, namespaces).wants(t, http.StatusForbidden, "does not know the learner")
}

// Watches and upgrades last as long as a learner's program does.
func TestNoTimeLimitEndsALongRequest(t *testing.T) {
	t.Parallel()
	s := startPublic(t)
	if s.http.ReadTimeout != 0 || s.http.WriteTimeout != 0 || s.http.ReadHeaderTimeout == 0 || s.http.IdleTimeout == 0 {
		t.Errorf("read %v, write %v, headers %v, idle %v", s.http.ReadTimeout, s.http.WriteTimeout, s.http.ReadHeaderTimeout, s.http.IdleTimeout)
	}
}
