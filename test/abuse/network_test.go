package abuse

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// An API server connects to what objects tell it to, and a learner writes all objects of theirs. None of them leads to the
// machine that it runs on, or beyond.
func TestAPIServerCannotReachTheNetwork(t *testing.T) {
	s := solo(t)
	p := s.local(t).page(t)
	p.ready()
	a := p.api(t)
	bait := newTrap(t)
	for _, attack := range []struct {
		name string
		run  func(*testing.T, *api, *trap)
	}{
		{"webhooks by URL", testWebhookURLs},
		{"webhooks by service", testWebhookServices},
		{"conversion webhooks", testConversion},
		{"aggregated API servers", testAggregation},
		{"the proxy of nodes", testNodeProxy},
		{"the proxy of services and pods", testServiceProxy},
		{"what an API server tells of its host", testHostPaths},
		{"identities", testIdentities},
	} {
		t.Run(attack.name, func(t *testing.T) {
			a.t = t
			attack.run(t, a, bait)
			if n := bait.caught.Swap(0); n > 0 {
				t.Errorf("%d connections reached a port of the host", n)
			}
		})
	}
}

// targets are hosts that no API server of a learner may connect to; all but the learner's own localhost.
func (bait *trap) targets() []string {
	return []string{"127.0.0.1:" + bait.port, "localhost:" + bait.port, "[::1]:" + bait.port, bait.outside + ":" + bait.port,
		"169.254.169.254:80", "[::ffff:" + bait.outside + "]:" + bait.port, "0.0.0.0:" + bait.port, "example.com:443"}
}

// refused tells whether a message is that of the API server's own dialer: an attack that failed for another reason proves nothing.
func refused(text string) bool {
	return strings.Contains(text, "nothing of yours listens") || strings.Contains(text, "is not reachable: pods and services of this cluster are simulated")
}

// eventually repeats what takes a moment to be in force.
func eventually(t *testing.T, what string, fn func() (ok bool, last string)) {
	t.Helper()
	for deadline := time.Now().Add(patience / 4); ; time.Sleep(500 * time.Millisecond) {
		ok, last := fn()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%s: %.500s", what, last)
			return
		}
	}
}

const webhooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"

// hook makes a webhook that every ConfigMap with the label has to pass, tries it, and takes it away.
func hook(t *testing.T, a *api, client string) {
	t.Helper()
	a.does(http.MethodPost, webhooks, `{"metadata":{"name":"spy"},"webhooks":[{"name":"spy.example.com","sideEffects":"None","admissionReviewVersions":["v1"],"timeoutSeconds":5,
		"objectSelector":{"matchLabels":{"spied":"on"}},"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}],"clientConfig":`+client+`}]}`)
	eventually(t, "a webhook of "+client+" is not refused as it should", func() (bool, string) {
		code, text := a.ask(http.MethodPost, "/api/v1/namespaces/default/configmaps?dryRun=All", `{"metadata":{"name":"c","labels":{"spied":"on"}}}`)
		return code >= 400 && refused(text), fmt.Sprint(code, " ", text)
	})
	a.does(http.MethodDelete, webhooks+"/spy", "")
}

func testWebhookURLs(t *testing.T, a *api, bait *trap) {
	for _, target := range bait.targets() {
		hook(t, a, fmt.Sprintf(`{"url":"https://%s/x"}`, target))
	}
}

// service makes a service that stands for a host of the attacker's choice: by name, by endpoints.
func service(a *api, name, spec string, bait *trap) {
	a.t.Helper()
	a.does(http.MethodPost, "/api/v1/namespaces/default/services", fmt.Sprintf(`{"metadata":{"name":%q},"spec":%s}`, name, spec))
	if strings.Contains(spec, "ExternalName") {
		return
	}
	a.does(http.MethodPost, "/api/v1/namespaces/default/endpoints",
		fmt.Sprintf(`{"metadata":{"name":%q},"subsets":[{"addresses":[{"ip":%q}],"ports":[{"port":%s}]}]}`, name, bait.outside, bait.port))
	a.does(http.MethodPost, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
		fmt.Sprintf(`{"metadata":{"name":"%s-x","labels":{"kubernetes.io/service-name":%[1]q}},"addressType":"IPv4","endpoints":[{"addresses":[%q],"conditions":{"ready":true}}],"ports":[{"port":%s}]}`,
			name, bait.outside, bait.port))
}

func services(bait *trap) map[string]string {
	port := fmt.Sprintf(`"ports":[{"port":%s,"targetPort":%[1]s}]`, bait.port)
	return map[string]string{
		"by-localhost": `{"type":"ExternalName","externalName":"localhost",` + port + `}`,
		"by-name":      `{"type":"ExternalName","externalName":"example.com",` + port + `}`,
		"by-address":   fmt.Sprintf(`{"type":"ExternalName","externalName":%q,%s}`, bait.outside, port),
		"by-endpoints": `{` + port + `}`,
		"headless":     `{"clusterIP":"None",` + port + `}`,
		"external-ip":  fmt.Sprintf(`{"externalIPs":[%q],%s}`, bait.outside, port),
	}
}

func testWebhookServices(t *testing.T, a *api, bait *trap) {
	for name, spec := range services(bait) {
		service(a, name, spec, bait)
		if name == "headless" {
			continue // a webhook wants a service with an address
		}
		hook(t, a, fmt.Sprintf(`{"service":{"namespace":"default","name":%q,"port":%s}}`, name, bait.port))
	}
}

func testConversion(t *testing.T, a *api, bait *trap) {
	const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	plurals := map[string]string{} // by target
	for i, target := range bait.targets() {
		plural := fmt.Sprintf("spies%d", i)
		plurals[target] = plural
		version := func(name string, storage bool) string {
			return fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`, name, storage)
		}
		a.does(http.MethodPost, crds, fmt.Sprintf(`{"metadata":{"name":"%s.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":%[1]q,"singular":%[1]q,"kind":"Spy%d"},
			"versions":[%s,%s],"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://%s/x"}}}}}`,
			plural, i, version("v1", true), version("v2", false), target))
	}
	for target, plural := range plurals {
		eventually(t, "an object of "+plural, func() (bool, string) {
			code, text := a.ask(http.MethodPost, "/apis/example.com/v1/"+plural, fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Spy%s","metadata":{"name":"x"}}`, strings.TrimPrefix(plural, "spies")))
			return code == http.StatusCreated || code == http.StatusConflict, text
		})
		eventually(t, "a conversion by "+target+" is not refused as it should", func() (bool, string) {
			code, text := a.ask(http.MethodGet, "/apis/example.com/v2/"+plural+"/x", "")
			return code >= 400 && refused(text), fmt.Sprint(code, " ", text)
		})
		a.does(http.MethodDelete, crds+"/"+plural+".example.com", "")
	}
}

func testAggregation(t *testing.T, a *api, bait *trap) {
	const apiservices = "/apis/apiregistration.k8s.io/v1/apiservices"
	for name := range services(bait) { // which testWebhookServices has made
		group := name + ".spy.example.com"
		a.does(http.MethodPost, apiservices, fmt.Sprintf(`{"metadata":{"name":"v1.%s"},"spec":{"group":%[1]q,"version":"v1","groupPriorityMinimum":100,"versionPriority":10,
			"insecureSkipTLSVerify":true,"service":{"namespace":"default","name":%q,"port":%s}}}`, group, name, bait.port))
		eventually(t, "the APIService by "+name+" becomes unavailable", func() (bool, string) {
			_, text := a.ask(http.MethodGet, apiservices+"/v1."+group, "")
			return strings.Contains(text, `"status": "False"`) || strings.Contains(text, `"status":"False"`), text
		})
		if code, text := a.ask(http.MethodGet, "/apis/"+group+"/v1/secrets", ""); code < 400 {
			t.Errorf("the aggregated API of %s answers %d %s", name, code, text)
		}
		a.ask(http.MethodGet, "/apis", "", "Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		a.does(http.MethodDelete, apiservices+"/v1."+group, "")
	}
}

func testNodeProxy(t *testing.T, a *api, bait *trap) {
	a.does(http.MethodPost, "/api/v1/nodes", `{"metadata":{"name":"spy"}}`)
	for _, address := range []string{bait.outside, "127.0.0.1", "169.254.169.254"} {
		a.does(http.MethodPatch, "/api/v1/nodes/spy/status", fmt.Sprintf(
			`{"status":{"addresses":[{"type":"InternalIP","address":%q},{"type":"Hostname","address":%[1]q}],"daemonEndpoints":{"kubeletEndpoint":{"Port":%s}}}}`, address, bait.port))
		for _, path := range []string{"spy/proxy/", "spy:" + bait.port + "/proxy/", "https:spy:" + bait.port + "/proxy/", "http:spy:80/proxy/latest/meta-data/"} {
			code, text := a.ask(http.MethodGet, "/api/v1/nodes/"+path, "")
			simulated := strings.Contains(text, "the pods of this cluster are simulated") // as the stub kubelet says, whose port the simulation writes into the node again
			if code < 400 || !refused(text) && !simulated && !strings.Contains(text, "not allowed") {
				t.Errorf("nodes/%s at %s: %d %s", path, address, code, text)
			}
		}
	}
	for _, host := range []string{bait.outside, "127.0.0.1", "169.254.169.254", "localhost"} {
		if code, text := a.ask(http.MethodGet, "/api/v1/nodes/"+host+":"+bait.port+"/proxy/", ""); code < 400 {
			t.Errorf("a node that is not there, %s: %d %s", host, code, text)
		}
	}
}

func testServiceProxy(t *testing.T, a *api, bait *trap) {
	for name := range services(bait) {
		for _, path := range []string{name, name + ":" + bait.port, "https:" + name + ":" + bait.port} {
			if code, text := a.ask(http.MethodGet, "/api/v1/namespaces/default/services/"+path+"/proxy/", ""); code < 400 {
				t.Errorf("services/%s/proxy: %d %s", path, code, text)
			}
		}
	}
	a.does(http.MethodPost, "/api/v1/namespaces/default/pods", `{"metadata":{"name":"spy"},"spec":{"nodeName":"spy","terminationGracePeriodSeconds":0,"containers":[{"name":"c","image":"i"}]}}`)
	for _, address := range []string{bait.outside, "127.0.0.1", "169.254.169.254"} {
		a.does(http.MethodPatch, "/api/v1/namespaces/default/pods/spy/status", fmt.Sprintf(`{"status":{"phase":"Running","podIP":%q,"podIPs":[{"ip":%[1]q}],"hostIP":%[1]q}}`, address))
		for _, path := range []string{"spy:" + bait.port + "/proxy/", "https:spy:" + bait.port + "/proxy/", "spy:80/proxy/latest/", "spy/log", "spy/exec?command=id&stdout=true", "spy/portforward?ports=" + bait.port} {
			if code, text := a.ask(http.MethodGet, "/api/v1/namespaces/default/pods/"+path, ""); code < 400 {
				t.Errorf("pods/%s at %s: %d %s", path, address, code, text)
			}
		}
	}
}

// testHostPaths: an API server can be asked for logs, profiles and settings of the machine that it runs on.
func testHostPaths(t *testing.T, a *api, _ *trap) {
	for _, path := range []string{"/logs/", "/logs/syslog", "/logs/../../etc/passwd", "/logs/%2e%2e/%2e%2e/etc/passwd", "/debug/pprof/", "/debug/pprof/cmdline", "/debug/flags/v", "/configz",
		"/api/v1/nodes/node-1/proxy/logs/", "/api/v1/nodes/node-1/proxy/debug/pprof/cmdline", "/api/v1/nodes/node-1/proxy/runningpods/"} {
		if code, text := a.ask(http.MethodGet, path, ""); code < 400 {
			t.Errorf("%s: %d %.300s", path, code, text)
		}
	}
	for _, path := range []string{"/flagz", "/statusz", "/metrics", "/version"} {
		if _, text := a.ask(http.MethodGet, path, "", "Accept", "text/plain"); strings.Contains(text, "/var/tmp/apilab-abuse") || strings.Contains(text, hostSecret) {
			t.Errorf("%s names the host's folders: %.300s", path, text)
		}
	}
}

// testIdentities: what a learner may call themselves in their own cluster is their affair; the gateway's own means are not theirs.
func testIdentities(t *testing.T, a *api, _ *trap) {
	const whoami = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	for _, headers := range [][]string{
		{"X-Remote-User", "system:admin", "X-Remote-Group", "system:masters"},
		{"X-Forwarded-User", "system:admin"},
		{"X-Remote-Extra-Scopes", "all", "X-Remote-User", "apilab:platform"},
	} {
		code, text := a.ask(http.MethodPost, whoami, `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`, headers...)
		if code != http.StatusCreated || !strings.Contains(text, `"username":"learner"`) && !strings.Contains(text, `"username": "learner"`) {
			t.Errorf("with %v: %d %s", headers, code, text)
		}
	}
	for _, token := range []string{"", "x", "apilab_", "apilab_local_", "apilab_local_AAAA", "apilab_other_AAAA", "a.b.c", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06YWRtaW4ifQ."} {
		if code, text := a.as(token).ask(http.MethodGet, "/api/v1/namespaces", ""); code != http.StatusUnauthorized {
			t.Errorf("the token %q: %d %.200s", token, code, text)
		}
	}
}
