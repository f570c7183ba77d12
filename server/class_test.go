package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/apilab/apilab/server/store"
	"github.com/apilab/apilab/shell"
)

// startPublic serves classes until the test ends.
func startPublic(t *testing.T, change ...func(*Options)) *testServer {
	t.Helper()
	return start(t, append([]func(*Options){func(o *Options) {
		o.Public = &Public{URL: &url.URL{Scheme: "http", Host: "127.0.0.1:0"}, Unconfined: true}
		o.CommandFlags = " --data-dir /lab"
	}}, change...)...)
}

func (v *visitor) post(path string, form url.Values, change ...func(*http.Request)) answer {
	v.t.Helper()
	return v.ask(http.MethodPost, path+"?"+form.Encode(), change...)
}

// find returns what a pattern's group matches in a page.
func (a answer) find(t *testing.T, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(a.body)
	if found == nil {
		t.Fatalf("status %d: nothing is like %s in\n%s", a.code, pattern, a.body)
	}
	return html.UnescapeString(found[1])
}

// follow opens a sign-in link, and says yes.
func (v *visitor) follow(link string) *visitor {
	v.t.Helper()
	path := strings.TrimPrefix(link, v.server.PublicURL())
	v.get(path).wants(v.t, http.StatusOK, "Are you")
	v.post(path, nil).wants(v.t, http.StatusSeeOther)
	return v
}

func (s *testServer) admin(t *testing.T) *visitor {
	t.Helper()
	link, err := s.SignInURL()
	if err != nil {
		t.Fatal(err)
	}
	return s.visitor(t).follow(link)
}

// instructor is made by an admin.
func (s *testServer) instructor(t *testing.T, name string) *visitor {
	t.Helper()
	a := s.admin(t).post("/people", url.Values{"name": {name}})
	a.wants(t, http.StatusOK, name)
	return s.visitor(t).follow(a.find(t, `<code>(http://\S+/signin/\S+)</code>`))
}

// newClass makes a class and returns its path.
func (v *visitor) newClass(t *testing.T, form url.Values) (path string) {
	t.Helper()
	a := v.post("/classes", form)
	a.wants(t, http.StatusSeeOther)
	return strings.TrimSuffix(a.header.Get("Location"), "/join")
}

func (v *visitor) joinCode(t *testing.T, class string) string {
	t.Helper()
	return v.get(class+"/join").find(t, `wall-code">([A-Z0-9]{4}-[A-Z0-9]{4})<`)
}

func (s *testServer) join(t *testing.T, code, name string) (v *visitor, personal string) {
	t.Helper()
	v = s.visitor(t)
	a := v.post("/join", url.Values{"code": {code}, "name": {name}})
	a.wants(t, http.StatusOK, "You are in")
	return v, a.find(t, `<code>([A-Z0-9]{5}-[A-Z0-9]{5})</code>`)
}

func TestFromNothingToALearner(t *testing.T) {
	t.Parallel()
	s := startPublic(t)
	if !s.HasNewAdmin() {
		t.Error("the first start made no admin")
	}
	grace := s.instructor(t, "Grace")
	class := grace.newClass(t, url.Values{"name": {"Tuesday"}, "capacity": {"2"}, "track": {"more"}})
	grace.get("/classes").wants(t, http.StatusOK, "Tuesday", "0 of 2", "open")
	code := grace.joinCode(t, class)

	s.visitor(t).get("/join/"+code).wants(t, http.StatusOK, "Join Tuesday", `value="`+code+`"`)
	ada, personal := s.join(t, strings.ToLower(strings.ReplaceAll(code, "-", " ")), "  Ada\tLovelace ")
	home := ada.get("/")
	home.wants(t, http.StatusOK, "Tuesday", "The last lesson")
	if strings.Contains(home.body, "The first lesson") {
		t.Error("home shows a track that is not the class's")
	}
	ada.get("/lessons/basics/first").wants(t, http.StatusOK, "The first lesson") // lessons link to each other over tracks
	ada.get("/me").wants(t, http.StatusOK, "Ada Lovelace", "Tuesday")

	again := ada.post("/join", url.Values{"code": {code}, "name": {"Ada"}}) // a second tap
	if again.wants(t, http.StatusSeeOther); again.header.Get("Location") != "/" {
		t.Errorf("sent twice: to %q", again.header.Get("Location"))
	}
	s.join(t, code, "Bob")
	s.visitor(t).post("/join", url.Values{"code": {code}, "name": {"Eve"}}).wants(t, http.StatusConflict, "full", `value="Eve"`)

	// From another browser.
	for _, path := range []string{"/join/back", "/join"} { // in whichever field
		other := s.visitor(t)
		other.post(path, url.Values{"code": {strings.ToLower(personal)}}).wants(t, http.StatusSeeOther)
		other.get("/me").wants(t, http.StatusOK, "Ada Lovelace")
	}
	second := ada.post("/me/code", nil).find(t, `<code>([A-Z0-9]{5}-[A-Z0-9]{5})</code>`)
	s.visitor(t).post("/join/back", url.Values{"code": {personal}}).wants(t, http.StatusNotFound, "nobody")
	third := grace.post(strings.Replace(grace.memberPath(t, class, "Ada Lovelace"), "remove", "code", 1), nil).find(t, `<code>([A-Z0-9]{5}-[A-Z0-9]{5})</code>`)
	s.visitor(t).post("/join/back", url.Values{"code": {second}}).wants(t, http.StatusNotFound)
	s.visitor(t).post("/join/back", url.Values{"code": {third}}).wants(t, http.StatusSeeOther)

	grace.post(grace.memberPath(t, class, "Ada Lovelace"), nil).wants(t, http.StatusSeeOther)
	ada.get("/").wants(t, http.StatusUnauthorized)
	for _, secret := range []string{code, personal, second, third} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the code %s stands in the log", secret)
		}
	}
}

// memberPath is where a member's removal is posted to.
func (v *visitor) memberPath(t *testing.T, class, name string) string {
	t.Helper()
	return v.get(class+"/settings").find(t, `(?s)<th scope="row">`+name+`</th>.*?action="([^"]+/remove)"`)
}

func TestWhyJoiningIsRefused(t *testing.T) {
	t.Parallel()
	s := startPublic(t)
	grace := s.instructor(t, "Grace")
	in := func(d time.Duration) string { return time.Now().Add(d).Format(dateFormat) }
	for name, tt := range map[string]struct {
		class url.Values
		typed url.Values // in place of the class's code and a name
		code  int
		says  string
	}{
		"wrong code": {typed: url.Values{"code": {"ACDE-FGHJ"}}, code: http.StatusNotFound, says: "No class has this code"},
		"no code":    {typed: url.Values{"code": {" - "}}, code: http.StatusBadRequest, says: "Type the join code"},
		"no name":    {typed: url.Values{"name": {" \u202e\u200b"}}, code: http.StatusBadRequest, says: "Type your name"},
		"closed":     {class: url.Values{"closed": {"yes"}}, code: http.StatusForbidden, says: "is closed"},
		"not begun":  {class: url.Values{"starts": {in(time.Hour)}}, code: http.StatusForbidden, says: "it begins on"},
		"over":       {class: url.Values{"starts": {in(-2 * time.Hour)}, "ends": {in(-time.Hour)}}, code: http.StatusGone, says: "is over"},
	} {
		form := url.Values{"name": {name}, "capacity": {"1"}}
		for key, value := range tt.class {
			form[key] = value
		}
		class := grace.newClass(t, form)
		typed := url.Values{"code": {grace.joinCode(t, class)}, "name": {"Ada"}}
		for key, value := range tt.typed {
			typed[key] = value
		}
		s.visitor(t).post("/join", typed).wants(t, tt.code, tt.says)
		if tt.class != nil { // the address in the QR code says so before a name is typed
			s.visitor(t).get("/join/"+typed.Get("code")).wants(t, tt.code, tt.says)
		}
	}
}

func TestSettingsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	s := startPublic(t)
	grace := s.instructor(t, "Grace")
	class := grace.newClass(t, url.Values{"name": {"Tuesday"}, "capacity": {"2"}})
	for name, tt := range map[string]struct {
		form url.Values
		says string
	}{
		"no name":      {url.Values{"name": {" "}, "capacity": {"2"}}, "Give the class a name"},
		"no capacity":  {url.Values{"name": {"x"}}, "The capacity is a number"},
		"none":         {url.Values{"name": {"x"}, "capacity": {"0"}}, "The capacity is a number"},
		"too many":     {url.Values{"name": {"x"}, "capacity": {"1001"}}, "The capacity is a number"},
		"no date":      {url.Values{"name": {"x"}, "capacity": {"2"}, "starts": {"tomorrow"}}, "is no date"},
		"end at start": {url.Values{"name": {"x"}, "capacity": {"2"}, "starts": {"2027-01-01T09:00"}, "ends": {"2027-01-01T09:00"}}, "has to end after"},
	} {
		for _, path := range []string{"/classes", class + "/settings"} {
			a := grace.post(path, tt.form)
			if a.wants(t, http.StatusBadRequest, tt.says); t.Failed() {
				t.Fatalf("%s at %s", name, path)
			}
		}
	}
	grace.get("/classes").wants(t, http.StatusOK, "Tuesday", "0 of 2")

	grace.post(class+"/settings", url.Values{"name": {"Friday"}, "capacity": {"3"}, "track": {"basics", "more"}, "place-basics": {"2"}, "place-more": {"1"}}).wants(t, http.StatusSeeOther)
	stored, err := s.store.Class(t.Context(), strings.TrimPrefix(class, "/classes/"))
	if err != nil || stored.Name != "Friday" || stored.Capacity != 3 || !slices.Equal(stored.Tracks, []string{"more", "basics"}) {
		t.Errorf("saved %+v, %v", stored, err)
	}
}

func TestWhoMaySeeWhat(t *testing.T) {
	t.Parallel()
	s := startPublic(t)
	admin, grace, other := s.admin(t), s.instructor(t, "Grace"), s.instructor(t, "Other")
	class := grace.newClass(t, url.Values{"name": {"Tuesday"}, "capacity": {"2"}})
	ada, _ := s.join(t, grace.joinCode(t, class), "Ada")
	remove := grace.memberPath(t, class, "Ada")
	person := admin.get("/people").find(t, `action="(/people/i-[^/]+)/role"`)
	who := []struct {
		name string
		v    *visitor
	}{{"stranger", s.visitor(t)}, {"learner", ada}, {"other instructor", other}, {"instructor", grace}, {"admin", admin}}
	const in, no, nothing, moved, out = http.StatusOK, http.StatusForbidden, http.StatusNotFound, http.StatusSeeOther, http.StatusUnauthorized
	for _, tt := range []struct {
		method, path string
		want         [5]int
	}{
		{"GET", "/join", [5]int{in, in, in, in, in}},
		{"GET", "/", [5]int{out, in, in, in, in}},
		{"GET", "/lessons/basics/first", [5]int{out, in, in, in, in}},
		{"GET", "/me", [5]int{out, in, in, in, in}},
		{"GET", "/classes", [5]int{out, no, in, in, in}},
		{"GET", "/classes/new", [5]int{out, no, in, in, in}},
		{"GET", class, [5]int{out, no, nothing, in, in}},
		{"GET", class + "/join", [5]int{out, no, nothing, in, in}},
		{"GET", class + "/settings", [5]int{out, no, nothing, in, in}},
		{"GET", class + "/progress.csv", [5]int{out, no, nothing, in, in}},
		{"GET", "/classes/c-none/settings", [5]int{out, no, nothing, nothing, nothing}},
		{"POST", class + "/settings?name=Tuesday&capacity=2", [5]int{out, no, nothing, moved, moved}},
		{"POST", strings.Replace(remove, "remove", "code", 1), [5]int{out, no, nothing, in, in}},
		{"POST", class + "/code", [5]int{out, no, nothing, moved, moved}},
		{"GET", "/people", [5]int{out, no, no, no, in}},
		{"POST", "/people?name=x", [5]int{out, no, no, no, in}},
		{"POST", person + "/link", [5]int{out, no, no, no, in}},
		{"POST", "/people/l-none/role?role=admin", [5]int{out, no, no, no, nothing}},
		{"POST", person + "/role?role=owner", [5]int{out, no, no, no, http.StatusBadRequest}},
		{"POST", class + "/delete?confirm=Tuesdays", [5]int{out, no, nothing, http.StatusBadRequest, http.StatusBadRequest}},
		{"POST", remove, [5]int{out, no, nothing, moved, nothing}},
		{"POST", class + "/delete?confirm=Tuesday", [5]int{out, out, nothing, moved, nothing}},
	} {
		for i, w := range who {
			if got := w.v.ask(tt.method, tt.path); got.code != tt.want[i] {
				t.Errorf("%s %s by the %s: %d, want %d", tt.method, tt.path, w.name, got.code, tt.want[i])
			}
		}
	}
}

func TestRolesAreTakenAway(t *testing.T) {
	t.Parallel()
	s := startPublic(t)
	admin, grace := s.admin(t), s.instructor(t, "Grace")
	class := grace.newClass(t, url.Values{"name": {"Tuesday"}, "capacity": {"2"}})
	self := admin.get("/people").find(t, `action="(/people/a-[^/]+)/role"`)
	admin.post(self+"/role", url.Values{"role": {"learner"}}).wants(t, http.StatusConflict, "only admin")

	path := admin.get("/people").find(t, `action="(/people/i-[^/]+)/role"`)
	admin.post(path+"/role", url.Values{"role": {"learner"}}).wants(t, http.StatusSeeOther)
	grace.get("/classes").wants(t, http.StatusUnauthorized)
	admin.get("/classes").wants(t, http.StatusOK, "Tuesday", "of Grace")
	admin.get(class+"/settings").wants(t, http.StatusOK)
	admin.post(path+"/link", nil).wants(t, http.StatusNotFound) // who is nobody now gets no link
}

func TestClosedLessonsAreShownAsClosed(t *testing.T) {
	t.Parallel()
	s := startPublic(t)
	grace := s.instructor(t, "Grace")
	class := grace.newClass(t, url.Values{"name": {"Tuesday"}, "capacity": {"2"}})
	ada, _ := s.join(t, grace.joinCode(t, class), "Ada")
	id := strings.TrimPrefix(class, "/classes/")
	if err := s.store.CloseLesson(t.Context(), id, "basics/first"); err != nil {
		t.Fatal(err)
	}
	ada.get("/").wants(t, http.StatusOK, "Begin with The second lesson")
	ada.get("/tracks/basics").wants(t, http.StatusOK, `closed</span>`)
	ada.get("/lessons/basics/second").wants(t, http.StatusOK, `closed</span>`)
	a := ada.get("/lessons/basics/first")
	a.wants(t, http.StatusForbidden, "is closed for now")
	if strings.Contains(a.body, "Read this first") {
		t.Error("a closed lesson can be read")
	}
	grace.get("/lessons/basics/first").wants(t, http.StatusOK, "Read this first")
	tab := ada.open(t) // of a page that was loaded before
	if r := tab.ask("exercise.open", map[string]any{"exercise": "basics/say"}); r.OK || !strings.Contains(r.Error, "closed for now") {
		t.Errorf("an exercise of a closed lesson: %+v", r)
	}
	if err := s.store.OpenLesson(t.Context(), id, "basics/first"); err != nil {
		t.Fatal(err)
	}
	ada.get("/lessons/basics/first").wants(t, http.StatusOK, "Read this first")
	tab.openExercise("basics/say")
}

func TestMembersOutsideOfTheirClassesTime(t *testing.T) {
	t.Parallel()
	s := startPublic(t)
	grace := s.instructor(t, "Grace")
	class := grace.newClass(t, url.Values{"name": {"Tuesday"}, "capacity": {"2"}})
	ada, _ := s.join(t, grace.joinCode(t, class), "Ada")
	stored, err := s.store.Class(t.Context(), strings.TrimPrefix(class, "/classes/"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		starts, ends time.Time
		code         int
		says         string
	}{
		{time.Now().Add(time.Hour), time.Time{}, http.StatusForbidden, "begins later"},
		{time.Time{}, time.Now().Add(-time.Hour), http.StatusForbidden, "is over"},
		{time.Time{}, time.Now().Add(time.Hour), http.StatusOK, "Tracks"},
	} {
		stored.Starts, stored.Ends = tt.starts, tt.ends
		if err := s.store.SaveClass(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
		ada.get("/").wants(t, tt.code, tt.says)
		ada.get("/me").wants(t, http.StatusOK, "Ada") // to leave
	}
}

func TestSignOutEndsSessionsAndPages(t *testing.T) {
	t.Parallel()
	s := startPublic(t)
	grace := s.instructor(t, "Grace")
	class := grace.newClass(t, url.Values{"name": {"Tuesday"}, "capacity": {"2"}})
	ada, personal := s.join(t, grace.joinCode(t, class), "Ada")
	elsewhere, third := s.visitor(t), s.visitor(t)
	for _, v := range []*visitor{elsewhere, third} {
		v.post("/join/back", url.Values{"code": {personal}}).wants(t, http.StatusSeeOther)
	}
	here, there := ada.open(t), elsewhere.open(t)

	ada.post("/signout", nil).wants(t, http.StatusSeeOther)
	ada.get("/").wants(t, http.StatusUnauthorized)
	here.isSignedOut()
	elsewhere.get("/").wants(t, http.StatusOK)

	third.post("/signout", url.Values{"everywhere": {"yes"}}).wants(t, http.StatusSeeOther)
	elsewhere.get("/").wants(t, http.StatusUnauthorized)
	there.isSignedOut()
}

// isSignedOut waits until the page's websocket was ended because its session was.
func (tab *tab) isSignedOut() {
	tab.t.Helper()
	tab.until("the end", func() bool { return tab.closed != nil })
	if code := websocket.CloseStatus(tab.closed); code != statusSignedOut {
		tab.t.Errorf("the websocket ended with %v, want %v", tab.closed, statusSignedOut)
	}
}

func TestSignOutOnOnesOwnMachine(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *Options) { o.CommandFlags = " --data-dir /lab" })
	v := s.learner(t)
	v.get("/").wants(t, http.StatusOK, `action="/signout"`)
	v.ask(http.MethodPost, "/signout", header("Origin", "https://evil.example")).wants(t, http.StatusForbidden)
	v.post("/signout", nil).wants(t, http.StatusSeeOther)
	v.get("/").wants(t, http.StatusUnauthorized, "apilab open --data-dir /lab")
	for _, path := range []string{"/join", "/people", "/classes", "/me"} { // there are no classes here
		s.learner(t).get(path).wants(t, http.StatusNotFound)
	}
}

func TestSignInLinksSurviveWhatLooksAtThem(t *testing.T) {
	t.Parallel()
	s := startPublic(t)
	link, err := s.SignInURL()
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(link, s.PublicURL())
	for range 3 { // a mail filter, a chat's preview, an impatient click
		s.visitor(t).get(path).wants(t, http.StatusOK, "Are you Admin?")
	}
	v := s.visitor(t)
	v.ask(http.MethodPost, path, header("Sec-Fetch-Site", "cross-site")).wants(t, http.StatusForbidden)
	v.follow(link)
	v.get("/people").wants(t, http.StatusOK)
	s.visitor(t).get(path).wants(t, http.StatusUnauthorized, "was used before", "Join a class")
}

func TestCookiesOfAPublicServer(t *testing.T) {
	t.Parallel()
	for scheme, wants := range map[string][]string{
		"http":  {"HttpOnly", "SameSite=Lax", "Path=/"},
		"https": {"HttpOnly", "SameSite=Lax", "Path=/", "Secure", "__Host-apilab-session-"},
	} {
		s := startPublic(t, func(o *Options) { o.Public.URL.Scheme = scheme })
		link, err := s.SignInURL()
		if err != nil {
			t.Fatal(err)
		}
		cookie := s.visitor(t).post(strings.TrimPrefix(link, s.PublicURL()), nil).header.Get("Set-Cookie")
		for _, want := range wants {
			if !strings.Contains(cookie, want) {
				t.Errorf("%s: the cookie %q is not %s", scheme, cookie, want)
			}
		}
		if scheme == "http" && strings.Contains(cookie, "Secure") {
			t.Errorf("%s: no browser sends the cookie %q", scheme, cookie)
		}
	}
}

func TestHostsOfAPublicServer(t *testing.T) {
	t.Parallel()
	s := startPublic(t, func(o *Options) {
		o.Public.URL, o.Public.Hosts = &url.URL{Scheme: "https", Host: "lab.example.org"}, []string{"teachers-laptop"}
	})
	for host, want := range map[string]int{
		"lab.example.org":              http.StatusOK,
		"LAB.example.org:443":          http.StatusOK,
		"teachers-laptop:8080":         http.StatusOK,
		"localhost":                    http.StatusOK,
		s.Addr():                       http.StatusOK,
		"evil.example":                 http.StatusMisdirectedRequest,
		"lab.example.org.evil.example": http.StatusMisdirectedRequest,
		"evil.lab.example.org":         http.StatusMisdirectedRequest,
		"192.0.2.1":                    http.StatusMisdirectedRequest, // not where this connection came to
	} {
		a := s.visitor(t).get("/join", func(r *http.Request) { r.Host = host })
		if a.code != want {
			t.Errorf("%s: %d, want %d", host, a.code, want)
		}
	}
	for origin, want := range map[string]int{
		"https://lab.example.org":      http.StatusNotFound, // behind a proxy that names this machine as the host
		"http://lab.example.org":       http.StatusForbidden,
		"https://lab.example.org:8443": http.StatusForbidden,
		"https://evil.example":         http.StatusForbidden,
		"null":                         http.StatusForbidden,
	} {
		a := s.visitor(t).post("/join/back", url.Values{"code": {"ACDEFGHJKM"}}, header("Origin", origin))
		if a.code != want {
			t.Errorf("a form of %s: %d, want %d", origin, a.code, want)
		}
	}
}

func TestShellsThatAreNotClosedIn(t *testing.T) {
	t.Parallel()
	s := startPublic(t)
	for name, tt := range map[string]struct {
		gaps       []string
		err        error
		unconfined bool
		want       string
	}{
		"closed in":      {want: ""},
		"open":           {gaps: []string{"read files outside of its home", "run programs of this machine"}, want: "could read files outside of its home, run programs of this machine; serve on Linux 6.7"},
		"open, admitted": {gaps: []string{"run programs of this machine"}, unconfined: true, want: ""},
		"not found out":  {err: errors.New("no process"), unconfined: true, want: "no process"},
	} {
		public := *s.o.Public
		public.Unconfined = tt.unconfined
		tried := &Server{o: Options{Public: &public, DataDir: t.TempDir()}, gateway: s.gateway, log: slog.New(slog.DiscardHandler)}
		err := tried.checkConfined(t.Context(), func(context.Context, shell.Options) ([]string, error) { return tt.gaps, tt.err })
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestServesHTTPS(t *testing.T) {
	t.Parallel()
	from := httptest.NewTLSServer(nil) // lends its certificate
	defer from.Close()
	s := startPublic(t, func(o *Options) {
		o.Public.URL.Scheme, o.Public.TLS = "https", &tls.Config{Certificates: from.TLS.Certificates}
	})
	response, err := from.Client().Get("https://" + s.Addr() + "/join")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK || response.TLS == nil {
		t.Errorf("by HTTPS: %s", response.Status)
	}
	if !strings.HasPrefix(s.PublicURL(), "https://127.0.0.1:") || strings.HasSuffix(s.PublicURL(), ":0") {
		t.Errorf("it is reached at %s", s.PublicURL())
	}
	plain, err := http.Get("http://" + s.Addr() + "/join")
	if err != nil {
		t.Fatal(err)
	}
	plain.Body.Close()
	if plain.StatusCode != http.StatusBadRequest {
		t.Errorf("by HTTP: %s", plain.Status)
	}
}

func TestWrongCodesAreSlowedDown(t *testing.T) {
	t.Parallel()
	s := startPublic(t, func(o *Options) { o.Public.Proxies = nil })
	grace := s.instructor(t, "Grace")
	code := grace.joinCode(t, grace.newClass(t, url.Values{"name": {"Tuesday"}, "capacity": {"100"}}))
	for i := range 2 * addressFailures { // a room behind one address
		s.join(t, code, fmt.Sprint("learner ", i))
	}
	for i := range addressFailures {
		// What a client says of itself does not make it another one.
		s.visitor(t).post("/join/back", url.Values{"code": {"ACDEFGHJKM"}}, header("X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i))).wants(t, http.StatusNotFound)
	}
	for _, form := range []url.Values{{"code": {"ACDE-FGHJ"}, "name": {"Eve"}}, {"code": {code}, "name": {"Eve"}}} {
		a := s.visitor(t).post("/join", form)
		a.wants(t, http.StatusTooManyRequests, "Too many wrong codes", "Try again in 3 s")
		if a.header.Get("Retry-After") != "3" {
			t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
		}
	}
	s.visitor(t).get("/join/"+code).wants(t, http.StatusTooManyRequests)
	s.visitor(t).get("/signin/x").wants(t, http.StatusTooManyRequests, "Try again in 3 s")
	grace.get("/classes").wants(t, http.StatusOK) // who is in is not concerned
}

func TestCleanName(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"Ada":                              "Ada",
		"  Ada \n Lovelace\t":              "Ada Lovelace",
		"<script>alert(1)</script>":        "<script>alert(1)</script>", // as text
		"Zoë 李 Müller-Ångström":            "Zoë 李 Müller-Ångström",
		"A\u202edа\u0000\u200b\u2066":      "Adа",
		"\u200d\u200c":                     "",
		"نام\u200cها":                      "نام\u200cها",
		"\xff":                             "",
		strings.Repeat("é", maxName+1):     strings.Repeat("é", maxName),
		strings.Repeat("a", maxName) + "b": strings.Repeat("a", maxName),
	} {
		if got := cleanName(typed); got != want {
			t.Errorf("%q becomes %q, want %q", typed, got, want)
		}
	}
}

func TestQRCode(t *testing.T) {
	t.Parallel()
	code, err := qrCode("http://192.168.1.10:8080/join/ACDEFGHJ")
	if err != nil {
		t.Fatal(err)
	}
	// 38 bytes at level M take version 3: 29 modules, and 4 of margin on each side. It begins with a finder's upper edge.
	for _, want := range []string{`viewBox="0 0 37 37"`, `d="M4 4h7v1h-7z`, `role="img"`, `aria-label=`} {
		if !strings.Contains(string(code), want) {
			t.Errorf("no %s in %.200s", want, code)
		}
	}
	if _, err := qrCode(strings.Repeat("x", 5000)); err == nil {
		t.Error("a text that no code can hold")
	}
}

func TestNamesAreText(t *testing.T) {
	t.Parallel()
	s := startPublic(t)
	const evil = `<img src=x onerror=alert(1)>"'`
	grace := s.instructor(t, "Grace")
	class := grace.newClass(t, url.Values{"name": {evil}, "capacity": {"2"}})
	ada, _ := s.join(t, grace.joinCode(t, class), evil)
	for _, a := range []answer{grace.get("/classes"), grace.get(class + "/settings"), grace.get(class + "/join"), ada.get("/"), ada.get("/me"), ada.get("/join")} {
		a.wants(t, http.StatusOK, "&lt;img")
		if strings.Contains(a.body, "<img") {
			t.Errorf("a name became markup in\n%s", a.body)
		}
	}
}

func TestFirstAdminIsMadeOnce(t *testing.T) {
	t.Parallel()
	s := startPublic(t)
	s.stop()
	again := startPublic(t, func(o *Options) { o.DataDir = s.o.DataDir })
	if again.HasNewAdmin() {
		t.Error("the second start made another admin")
	}
	staff, err := again.store.Staff(t.Context())
	if err != nil || len(staff) != 1 || staff[0].Role != store.RoleAdmin {
		t.Errorf("staff %+v, %v", staff, err)
	}
	if _, err := again.Kubeconfig(); err == nil {
		t.Error("a kubeconfig of nobody")
	}
}
