package abuse

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// kubeconfig is the one for the learner's own machine, and the learner's ID in it.
func (v *visitor) kubeconfig() (*rest.Config, string) {
	v.t.Helper()
	a := v.get("/kubeconfig")
	if a.code != http.StatusOK {
		v.t.Fatalf("the kubeconfig: %d %s", a.code, a.body)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(a.body))
	if err != nil {
		v.t.Fatal(err)
	}
	id := regexp.MustCompile(`l-[a-z0-9]+`).FindString(config.BearerToken)
	if id == "" {
		v.t.Fatalf("no learner in the token of %s", a.body)
	}
	return config, id
}

// Nothing of a learner's is another learner's: cluster, terminal, files, ports, pages.
func TestLearnersCannotReachEachOther(t *testing.T) {
	s := class(t)
	mallory, victim := s.joins(t, "Mallory"), s.joins(t, "Victim")
	theirs, victimID := victim.kubeconfig()
	own, malloryID := mallory.kubeconfig()
	pv, pm := victim.page(t), mallory.page(t)
	pv.ready()
	pm.ready()
	pv.get("file.write", map[string]any{"path": "x", "text": "s3cr3t-of-another"}, nil)
	tv, tm := pv.terminal(), pm.terminal()
	av, am := pv.api(t), pm.api(t)
	av.does("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"theirs"}}`)

	t.Run("cluster by token and path", func(t *testing.T) {
		client := &http.Client{Timeout: patience, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		account := am.does("POST", "/api/v1/namespaces/default/serviceaccounts/default/token", `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`)
		_, after, _ := strings.Cut(account, `"token":"`)
		robot, _, _ := strings.Cut(after, `"`)
		theirRoot, ownRoot := root(t, theirs), root(t, own)
		forged := strings.Replace(own.BearerToken, malloryID, victimID, 1)
		for what, token := range map[string]string{"own": own.BearerToken, "inside": am.config.BearerToken, "a robot's": robot, "forged": forged,
			"forged inside": strings.Replace(am.config.BearerToken, malloryID, victimID, 1), "none": "", "nonsense": "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06YWRtaW4ifQ."} {
			for _, path := range []string{theirRoot, "/clusters/" + victimID, ownRoot + "/../" + victimID, ownRoot + "/%2e%2e/" + victimID, "/clusters/" + malloryID + "%2f..%2f" + victimID, "/clusters//" + victimID} {
				r, err := http.NewRequestWithContext(t.Context(), "GET", s.url+path+"/api/v1/namespaces/default/configmaps/theirs", nil)
				if err != nil {
					t.Fatal(err)
				}
				if token != "" {
					r.Header.Set("Authorization", "Bearer "+token)
				}
				response, err := client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				if response.StatusCode == http.StatusOK {
					t.Errorf("with the token %s, %s answers %s", what, path, response.Status)
				}
			}
		}
		by := withToken(theirs, own.BearerToken) // the victim's gateway name, Mallory's token
		if code, text := newAPI(t, by).ask("GET", "/api/v1/namespaces/default/configmaps/theirs", ""); code == http.StatusOK {
			t.Errorf("at the victim's address: %d %s", code, text)
		}
		inside := withToken(av.config, robot)
		if code, text := newAPI(t, inside).ask("GET", "/api/v1/namespaces/default/configmaps", ""); code != http.StatusUnauthorized {
			t.Errorf("a robot at another cluster: %d %s", code, text)
		}
	})
	t.Run("pages", func(t *testing.T) {
		for _, path := range []string{"/ws?learner=" + victimID, "/ws?class=" + s.class, "/ws?learner=" + victimID + "&class=" + s.class, "/ws?learner=local", "/ws?learner=" + malloryID} {
			if conn, err := mallory.connect(path); err == nil {
				conn.CloseNow()
				t.Errorf("%s is open to a learner", path)
			}
		}
		for _, path := range []string{"/people", "/classes", "/classes/new", "/classes/" + s.class, "/classes/" + s.class + "/progress.csv", "/classes/" + s.class + "/progress.json", "/classes/" + s.class + "/settings", "/classes/" + s.class + "/join"} {
			if a := mallory.get(path); a.code != http.StatusForbidden && a.code != http.StatusNotFound {
				t.Errorf("GET %s: %d", path, a.code)
			}
		}
		for _, path := range []string{"/people", "/people/" + malloryID + "/role", "/people/" + victimID + "/signout", "/people/" + victimID + "/link", "/classes", "/classes/" + s.class + "/code", "/classes/" + s.class + "/settings",
			"/classes/" + s.class + "/members/" + victimID + "/code", "/classes/" + s.class + "/members/" + victimID + "/remove"} {
			if a := mallory.post(path, url.Values{"name": {"x"}, "role": {"admin"}, "capacity": {"1"}}); a.code != http.StatusForbidden && a.code != http.StatusNotFound {
				t.Errorf("POST %s: %d", path, a.code)
			}
		}
		if a := victim.get("/"); a.code != http.StatusOK {
			t.Errorf("the victim is put out: %d", a.code)
		}
		for _, kind := range []string{"class.message", "class.reset", "learner.reset", "message", "observer.type", "pace", "handout", "lesson.close"} {
			if r := pm.ask(kind, map[string]any{"learner": victimID, "class": s.class, "text": "x", "lesson": "x", "terminal": tv.id}); r.OK {
				t.Errorf("a learner's page may send %s", kind)
			}
		}
	})
	t.Run("terminals and files", func(t *testing.T) {
		for _, kind := range []string{"term.attach", "term.resize"} {
			if r := pm.ask(kind, map[string]any{"terminal": tv.id, "writer": "w", "from": 0, "cols": 10, "rows": 10}); r.OK && tv.id != tm.id {
				t.Errorf("%s of another's terminal works", kind)
			}
		}
		if r := pm.ask("editor.done", map[string]any{"token": "x", "save": true, "text": "x"}); r.OK {
			t.Error("an editor that is not there is done")
		}
		for _, path := range []string{"../../" + victimID + "/home/x", "/" + victimID, s.dir + "/learners/" + victimID + "/home/x", "a/../../../" + victimID + "/home/x"} {
			for _, kind := range []string{"file.read", "file.write", "file.delete"} {
				if r := pm.ask(kind, map[string]any{"path": path, "text": "mine"}); r.OK {
					t.Errorf("%s %s works", kind, path)
				}
			}
		}
		tm.page.t = t
		out := tm.run(fmt.Sprintf("cat %s/learners/%s/home/x; cat ../../%[2]s/home/x; ls ../..", s.dir, victimID))
		if strings.Contains(out, "s3cr3t") || strings.Contains(out, victimID+"\n") {
			t.Errorf("the shell shows it: %s", out)
		}
		tv.page.t = t
		if out := tv.run("cat x"); !strings.Contains(out, "s3cr3t-of-another") {
			t.Errorf("the victim's file is gone: %s", out)
		}
	})
	t.Run("ports", func(t *testing.T) {
		tv.page.t, tm.page.t = t, t
		tv.run("kubectl proxy --port=18001 >/dev/null 2>&1 & for i in 1 2 3 4 5 6 7 8 9; do curl -sf localhost:18001/version >/dev/null && break; sleep 1; done")
		out := tm.run(fmt.Sprintf("curl -sS -m 5 localhost:18001/version; ls %s/learners/%s/ports; kubectl --server http://localhost:18001 get configmap theirs", s.dir, victimID))
		if strings.Contains(out, "gitVersion") || !strings.Contains(out, "Connection refused") {
			t.Errorf("another's port: %s", out)
		}
		am.t = t
		hook(t, am, `{"url":"https://localhost:18001/x"}`)
	})
}

// root is the path of a learner's API server at the public address.
func root(t *testing.T, config *rest.Config) string {
	t.Helper()
	u, err := url.Parse(config.Host)
	if err != nil || !strings.HasPrefix(u.Path, "/clusters/") {
		t.Fatalf("the address of a cluster is %s, %v", config.Host, err)
	}
	return u.Path
}

// withToken is the way to a server with another's token.
func withToken(to *rest.Config, token string) *rest.Config {
	config := rest.AnonymousClientConfig(to)
	config.BearerToken = token
	return config
}

// An anonymous request with a made-up token for somebody's cluster neither starts nor wakes it.
func TestStrangersWakeNoCluster(t *testing.T) {
	s := class(t)
	v := s.joins(t, "Asleep")
	_, id := v.kubeconfig()
	client := &http.Client{Timeout: patience}
	for _, path := range []string{"/clusters/" + id + "/api", "/clusters/" + id + "/version", "/api/v1/namespaces"} {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", s.url+path, nil)
		r.Header.Set("Authorization", "Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQ6ZGVmYXVsdDpkZWZhdWx0In0.AAAA")
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
	if len(s.children("control-plane")) > 0 {
		t.Error("a cluster was started for a stranger")
	}
}

// Codes are guessed by nobody: after some tries an address waits. A whole room that joins at once does not.
func TestCodesCannotBeGuessed(t *testing.T) {
	s := class(t)
	for i := range 60 {
		s.joins(t, fmt.Sprintf("Learner %d", i))
	}
	guesser := s.visitor(t)
	tries := 0
	var last answer
	for ; tries < 200 && last.code != http.StatusTooManyRequests; tries++ {
		form := url.Values{"code": {fmt.Sprintf("ACDE-%04d", tries)}, "name": {"x"}}
		path := "/join"
		if tries%2 == 1 {
			path, form = "/join/back", url.Values{"code": {fmt.Sprintf("ACDEF-%05d", tries)}}
		}
		last = guesser.post(path, form, header("X-Forwarded-For", fmt.Sprintf("10.0.0.%d", tries)), header("X-Real-IP", fmt.Sprintf("10.1.0.%d", tries)))
		if len(guesser.cookies()) > 0 {
			t.Fatalf("guessed in %d tries", tries)
		}
	}
	if last.code != http.StatusTooManyRequests || !strings.Contains(last.body, "Try again in") || last.header.Get("Retry-After") == "" {
		t.Errorf("after %d wrong codes: %d %.300s", tries, last.code, last.body)
	}
	if tries > 60 {
		t.Errorf("%d codes could be tried", tries)
	}
	for _, path := range []string{"/join/ACDE-FGHJ", "/signin/guessed"} { // the other doors are closed as well
		if a := guesser.get(path); a.code != http.StatusTooManyRequests {
			t.Errorf("%s after that: %d", path, a.code)
		}
	}
	for _, code := range []string{"' OR 1=1 --", `" OR ""="`, "%", "____-____", strings.Repeat("A", 100_000)} {
		if guesser.post("/join", url.Values{"code": {code}, "name": {"x"}}); len(guesser.cookies()) > 0 {
			t.Errorf("the code %.20q lets in", code)
		}
	}
}

// An instructor runs their own classes and no others, and is no admin.
func TestInstructorsKeepToTheirClasses(t *testing.T) {
	s := class(t)
	if a := s.admin.post("/people", url.Values{"name": {"Ivy"}, "role": {"instructor"}}); a.code >= 400 {
		t.Fatalf("a new instructor: %d %s", a.code, a.body)
	} else if link := regexp.MustCompile(`/signin/[\w-]+`).FindString(a.body); link == "" {
		t.Fatalf("no sign-in link in %s", a.body)
	} else {
		ivy := s.visitor(t)
		ivy.signIn(link)
		ivy.makesClass("Ivy's")
		victim := s.joins(t, "Victim")
		_, id := victim.kubeconfig()
		for _, path := range []string{"/people", "/classes/" + s.class, "/classes/" + s.class + "/progress.csv", "/classes/" + s.class + "/progress.json", "/classes/" + s.class + "/settings", "/classes/" + s.class + "/join"} {
			if a := ivy.get(path); a.code != http.StatusForbidden && a.code != http.StatusNotFound {
				t.Errorf("GET %s: %d", path, a.code)
			}
		}
		for _, path := range []string{"/ws?class=" + s.class, "/ws?learner=" + id} {
			if conn, err := ivy.connect(path); err == nil {
				conn.CloseNow()
				t.Errorf("%s is open to the instructor of another class", path)
			}
		}
		for _, path := range []string{"/people", "/classes/" + s.class + "/code", "/classes/" + s.class + "/members/" + id + "/code", "/classes/" + s.class + "/members/" + id + "/remove"} {
			if a := ivy.post(path, url.Values{"name": {"x"}, "role": {"admin"}}); a.code != http.StatusForbidden && a.code != http.StatusNotFound {
				t.Errorf("POST %s: %d", path, a.code)
			}
		}
	}
}

// Who signs out, or is signed out, is out at once: pages and all.
func TestSignOutEndsEverything(t *testing.T) {
	s := class(t)
	v := s.joins(t, "Leaving")
	p := v.page(t)
	p.get("ping", nil, nil)
	before := v.cookies()
	if a := v.post("/signout", nil); a.code != http.StatusSeeOther {
		t.Fatalf("sign out: %d %s", a.code, a.body)
	}
	p.until("the page's end", func() bool { return p.closed != nil })
	thief := s.visitor(t)
	if a := thief.get("/", func(r *http.Request) { r.AddCookie(before[0]) }); a.code != http.StatusUnauthorized {
		t.Errorf("the old session still works: %d", a.code)
	}
}
