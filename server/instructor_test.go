package server

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/apilab/apilab/server/protocol"
	"github.com/apilab/apilab/server/store"
)

// A room is a class with its instructor, and learners as they come.
type room struct {
	*testServer
	t     *testing.T
	grace *visitor // its instructor
	class string   // ID
	code  string
}

func startRoom(t *testing.T, change ...func(*Options)) *room {
	t.Helper()
	s := startPublic(t, change...)
	grace := s.instructor(t, "Grace")
	path := grace.newClass(t, url.Values{"name": {"Tuesday"}, "capacity": {"50"}})
	return &room{testServer: s, t: t, grace: grace, class: strings.TrimPrefix(path, "/classes/"), code: grace.joinCode(t, path)}
}

// learner joins, and returns their ID too.
func (r *room) learner(name string) (v *visitor, id string) {
	r.t.Helper()
	v, _ = r.join(r.t, r.code, name)
	members, err := r.store.Members(r.t.Context(), r.class)
	if err != nil {
		r.t.Fatal(err)
	}
	return v, members[len(members)-1].ID
}

func (r *room) watch(v *visitor) *tab { return v.open(r.t, "?class="+r.class) }

// grid is what an instructor's page shows now: the last grid, with the rows that were told since.
func (tab *tab) grid() protocol.ClassGrid {
	var grid protocol.ClassGrid
	for _, m := range tab.messages {
		switch m.Type {
		case "class.grid":
			grid = protocol.ClassGrid{}
			_ = json.Unmarshal(m.raw, &grid)
		case "class.row":
			var told protocol.ClassRowChanged
			_ = json.Unmarshal(m.raw, &told)
			for i := range grid.Rows {
				if grid.Rows[i].Learner == told.Row.Learner {
					grid.Rows[i] = told.Row
				}
			}
		case "class.stats":
			var told protocol.ClassStats
			_ = json.Unmarshal(m.raw, &told)
			grid.Stats = told.Stats
		case "class.handout":
			var told protocol.ClassHandout
			_ = json.Unmarshal(m.raw, &told)
			grid.Handout = &told.Handout
		}
	}
	return grid
}

// shows waits until the instructor's page shows what is wanted of a learner's row.
func (tab *tab) shows(learner, what string, wanted func(protocol.ClassRow) bool) (row protocol.ClassRow) {
	tab.t.Helper()
	tab.until(what, func() bool {
		grid := tab.grid()
		i := slices.IndexFunc(grid.Rows, func(r protocol.ClassRow) bool { return r.Learner == learner })
		if i >= 0 {
			row = grid.Rows[i]
		}
		return i >= 0 && wanted(row)
	})
	return row
}

// desk waits until the learner's page shows what is wanted of what they share with their class.
func (tab *tab) desk(what string, wanted func(protocol.Class) bool) (class protocol.Class) {
	tab.t.Helper()
	tab.until(what, func() bool {
		for _, m := range slices.Backward(tab.messages) {
			class = protocol.Class{}
			switch m.Type {
			case "class":
				_ = json.Unmarshal(m.raw, &class)
			case "hello":
				var hello protocol.Hello
				_ = json.Unmarshal(m.raw, &hello)
				class = hello.Class
			default:
				continue
			}
			return wanted(class)
		}
		return false
	})
	return class
}

func (tab *tab) refuses(kind string, fields map[string]any, because string) {
	tab.t.Helper()
	if r := tab.ask(kind, fields); r.OK || !strings.Contains(r.Error, because) {
		tab.t.Errorf("%s: ok %v, %q; want a refusal with %q", kind, r.OK, r.Error, because)
	}
}

func TestAnInstructorSeesTheClassLive(t *testing.T) {
	t.Parallel()
	r := startRoom(t)
	page := r.watch(r.grace)
	ada, id := r.learner("Ada")
	page.shows(id, "Ada, who has joined", func(row protocol.ClassRow) bool {
		return row.Name == "Ada" && row.Pages == 0 && len(row.Cells) == 1 && row.Cells[0].State == protocol.CellClosed
	})
	ada.get("/lessons/basics/first").wants(t, http.StatusOK)
	tab := ada.open(t)
	page.shows(id, "that Ada is here", func(row protocol.ClassRow) bool { return row.Pages == 1 && row.Lesson == "The first lesson" })
	tab.openExercise("basics/say")
	tab.get("exercise.answer", map[string]any{"exercise": "basics/say", "check": "said", "value": "bye"}, nil)
	row := page.shows(id, "that Ada tries", func(row protocol.ClassRow) bool {
		return row.Cells[0].State == protocol.CellFailing && row.Cells[0].Why != ""
	})
	if row.Stuck.IsZero() || row.Cells[0].Since.IsZero() {
		t.Errorf("the row does not say since when: %+v", row)
	}
	tab.get("exercise.answer", map[string]any{"exercise": "basics/say", "check": "said", "value": "hello"}, nil)
	row = page.shows(id, "that Ada passes", func(row protocol.ClassRow) bool { return row.Cells[0].State == protocol.CellPassing })
	if !row.Stuck.IsZero() || row.Passed != 1 {
		t.Errorf("who has passed is still stuck: %+v", row)
	}
	page.until("the numbers", func() bool { stats := page.grid().Stats; return len(stats) == 1 && stats[0].Passed == 1 })
	tab.leave()
	page.shows(id, "that Ada has left", func(row protocol.ClassRow) bool { return row.Pages == 0 })

	page.get("class.show", map[string]any{"lesson": "basics/second"}, nil)
	page.shows(id, "another lesson", func(row protocol.ClassRow) bool { return len(row.Cells) == 2 })

	// A server that comes later knows what passed.
	r.stop()
	later := &room{testServer: start(t, func(o *Options) { *o = r.o; o.Listen = r.Addr(); o.Backends = fakeBackends(t) }), t: t, class: r.class}
	r.grace.server = later.testServer
	later.watch(r.grace).shows(id, "what Ada passed before the restart", func(row protocol.ClassRow) bool { return row.Passed == 1 })
}

func TestOnlyWhoRunsAClassSeesIt(t *testing.T) {
	t.Parallel()
	r := startRoom(t)
	ada, id := r.learner("Ada")
	visitors := map[string]*visitor{
		"admin": r.admin(t), "instructor": r.grace, "another instructor": r.instructor(t, "Max"), "learner": ada, "nobody": r.visitor(t),
	}
	code := func(v *visitor, path string) int {
		t.Helper()
		if query, ok := strings.CutPrefix(path, "/ws"); ok {
			conn, response, err := websocket.Dial(t.Context(), "ws://"+v.server.Addr()+"/ws"+query, v.dialOptions())
			if err == nil {
				conn.CloseNow()
			}
			return response.StatusCode
		}
		return v.get(path).code
	}
	for who, want := range map[string]int{"admin": 200, "instructor": 200, "another instructor": 404, "learner": 403, "nobody": 401} {
		for _, path := range []string{"/classes/" + r.class, "/classes/" + r.class + "/progress.csv", "/classes/" + r.class + "/progress.json", "/ws?class=" + r.class, "/ws?learner=" + id} {
			want := want
			if want == http.StatusOK && strings.HasPrefix(path, "/ws") {
				want = http.StatusSwitchingProtocols
			}
			if got := code(visitors[who], path); got != want {
				t.Errorf("%s asks for %s: %d, want %d", who, path, got, want)
			}
		}
	}
	for _, path := range []string{"/classes/c-none", "/ws?class=c-none", "/ws?learner=l-none"} {
		if got := code(r.grace, path); got != http.StatusNotFound {
			t.Errorf("what is not there, %s: %d, want 404", path, got)
		}
	}
}

func TestARoleThatIsTakenBackIsGoneAtOnce(t *testing.T) {
	t.Parallel()
	r := startRoom(t)
	_, id := r.learner("Ada")
	page, observer := r.watch(r.grace), r.grace.open(t, "?learner="+id)
	class, err := r.store.Class(t.Context(), r.class)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.store.SetRole(t.Context(), class.Instructor, store.RoleLearner); err != nil {
		t.Fatal(err)
	}
	for kind := range classRequests {
		if kind != "ping" {
			page.refuses(kind, map[string]any{"learner": id, "text": "x", "lesson": "basics/first", "script": "x", "title": "x"}, "for instructors")
		}
	}
	observer.refuses("observer.type", map[string]any{"ask": true}, "for instructors")
	if messages, err := r.store.Messages(t.Context(), id); err != nil || len(messages) > 0 {
		t.Errorf("a message came through: %v, %v", messages, err)
	}
}

func TestActsAreForLearnersOfTheClassAlone(t *testing.T) {
	t.Parallel()
	r := startRoom(t)
	page := r.watch(r.grace)
	max := r.instructor(t, "Max")
	path := max.newClass(t, url.Values{"name": {"Another"}, "capacity": {"5"}})
	r.join(t, max.joinCode(t, path), "Eve")
	members, err := r.store.Members(t.Context(), strings.TrimPrefix(path, "/classes/"))
	if err != nil {
		t.Fatal(err)
	}
	for _, learner := range []string{members[0].ID, "l-none", "../x"} {
		for _, kind := range []string{"class.message", "class.hand", "class.reset.cluster", "class.reset.exercise"} {
			page.refuses(kind, map[string]any{"learner": learner, "text": "x", "exercise": "basics/say"}, "not in the class")
		}
	}
	page.refuses("class.lesson", map[string]any{"lesson": "none", "closed": true}, "no such lesson")
	page.refuses("class.extend", map[string]any{"ends": time.Now().Add(-time.Hour)}, "in the past")
	page.refuses("class.message", map[string]any{"text": "  "}, "write something")
	page.refuses("class.message", map[string]any{"text": strings.Repeat("x", maxMessageText+1)}, "the most")
	page.refuses("class.handout", map[string]any{}, "choose an exercise")
	page.refuses("class.handout", map[string]any{"exercise": "basics/say"}, "nothing to hand out")
	page.refuses("class.handout", map[string]any{"script": "true"}, "a name")
	page.refuses("exercise.open", map[string]any{"exercise": "basics/say"}, "does not know")
}

func TestMessagesAndHands(t *testing.T) {
	t.Parallel()
	r := startRoom(t)
	page := r.watch(r.grace)
	ada, adas := r.learner("Ada")
	bob, _ := r.learner("Bob")
	adaTab, bobTab := ada.open(t), bob.open(t)
	page.get("class.message", map[string]any{"text": "To <b>all</b>"}, nil)
	page.get("class.message", map[string]any{"learner": adas, "text": "to Ada"}, nil)
	class := adaTab.desk("two messages", func(c protocol.Class) bool { return len(c.Messages) == 2 })
	if m := class.Messages[0]; m.From != "Grace" || m.Text != "To <b>all</b>" || !class.Member {
		t.Errorf("the message is %+v", m)
	}
	adaTab.get("message.dismiss", map[string]any{"message": class.Messages[0].ID}, nil)
	adaTab.desk("one message", func(c protocol.Class) bool { return len(c.Messages) == 1 && c.Messages[0].Text == "to Ada" })
	bobTab.desk("the message to all", func(c protocol.Class) bool { return len(c.Messages) == 1 })
	cy, _ := r.learner("Cy")
	cy.open(t).desk("the message to all, later", func(c protocol.Class) bool { return len(c.Messages) == 1 })

	adaTab.get("hand", map[string]any{"up": true}, nil)
	page.shows(adas, "Ada's hand", func(row protocol.ClassRow) bool { return !row.HandAt.IsZero() })
	adaTab.desk("the hand", func(c protocol.Class) bool { return !c.HandAt.IsZero() })
	page.get("class.hand", map[string]any{"learner": adas}, nil)
	adaTab.desk("the hand down", func(c protocol.Class) bool { return c.HandAt.IsZero() })
	page.shows(adas, "Ada's hand down", func(row protocol.ClassRow) bool { return row.HandAt.IsZero() })
	r.grace.open(t).refuses("hand", map[string]any{"up": true}, "no class")
}

func TestAnObserverTypesByLeaveAlone(t *testing.T) {
	t.Parallel()
	r := startRoom(t)
	tapes := tapes(r.Server)
	ada, id := r.learner("Ada")
	tab := ada.open(t)
	terminal := tab.openTerminal()
	shell := <-tapes
	observer := r.grace.open(t, "?learner="+id)
	var hello protocol.Hello
	observer.wait("hello", nil).decode(t, &hello)
	if hello.Observer == "" || len(hello.Terminals) != 1 {
		t.Fatalf("an observer's hello: %+v", hello)
	}
	observer.attach(terminal, "o", 0)
	shell.put([]byte("hello Grace"))
	observer.until("Ada's output", func() bool {
		out, err := observer.output(terminal, 0)
		return err == nil && strings.Contains(string(out), "hello Grace")
	})

	for kind := range requests {
		if observerRequests[kind].handle == nil {
			observer.refuses(kind, map[string]any{"terminal": terminal, "cols": 1, "rows": 1, "observer": hello.Observer, "allow": true}, "does not know")
		}
	}
	typing := func(want protocol.Typing) {
		t.Helper()
		tab.desk("typing: "+string(want), func(c protocol.Class) bool {
			return len(c.Observers) == 1 && c.Observers[0].Name == "Grace" && c.Observers[0].Typing == want
		})
	}
	types := func(text string) {
		t.Helper()
		observer.sendFrame(protocol.Frame{Kind: protocol.Input, Terminal: terminal, Payload: []byte(text)})
		observer.get("ping", nil, nil) // by now it is taken, or not
	}
	typing(protocol.Looks)
	types("no leave\r")
	tab.refuses("observer.allow", map[string]any{"observer": hello.Observer, "allow": true}, "does not ask")
	observer.get("observer.type", map[string]any{"ask": true}, nil)
	typing(protocol.Asked)
	types("only asked\r")
	tab.get("observer.allow", map[string]any{"observer": hello.Observer, "allow": true}, nil)
	typing(protocol.Allowed)
	observer.attach(terminal, "with leave", 0)
	types("echo by leave\r")
	if err := shell.until(t.Context(), func() bool { return string(shell.typed) == "echo by leave\r" }); err != nil {
		t.Fatalf("the terminal took %q: %v", shell.input(), err)
	}
	tab.get("observer.allow", map[string]any{"observer": hello.Observer, "allow": false}, nil)
	typing(protocol.Looks)
	observer.attach(terminal, "too late", 0)
	types("too late\r")
	observer.get("observer.type", map[string]any{"ask": true}, nil)
	tab.leave() // with the last page that shows it, the leave ends too
	observer.desk("that nobody is asked any more", func(c protocol.Class) bool { return c.Observers[0].Typing == protocol.Looks })
	observer.refuses("observer.type", map[string]any{"ask": true}, "nobody to ask")
	if got := shell.input(); got != "echo by leave\r" {
		t.Errorf("the terminal took %q, want what was typed by leave alone", got)
	}
}

func TestTwoInstructorsShareAReset(t *testing.T) {
	t.Parallel()
	var p *provider
	r := startRoom(t, func(o *Options) { p = o.provider() })
	ada, id := r.learner("Ada")
	tab := ada.open(t)
	tab.get("cluster.start", nil, nil)
	tab.wait("cluster", func(m message) bool { return strings.Contains(string(m.raw), `"state":"ready"`) })
	hold := make(chan struct{})
	p.mu.Lock()
	p.hold = hold
	p.mu.Unlock()

	grace, admin := r.watch(r.grace), r.watch(r.admin(t))
	first := make(chan reply, 1)
	go func() { first <- grace.ask("class.reset.cluster", map[string]any{"learner": id}) }()
	tab.wait("notice", func(m message) bool { return strings.Contains(string(m.raw), "Grace is resetting your cluster") })
	second := make(chan reply, 1)
	go func() { second <- admin.ask("class.reset.cluster", map[string]any{"learner": id}) }()
	admin.get("ping", nil, nil)
	tab.get("ping", nil, nil)
	time.AfterFunc(500*time.Millisecond, func() { close(hold) })
	one, two := <-first, <-second
	if !one.OK || !two.OK || strings.Contains(string(one.Value), "Grace") || !strings.Contains(string(two.Value), `"by":"Grace"`) {
		t.Errorf("the first: %+v %s, the second: %+v %s; want one reset, of Grace", one.OK, one.Value, two, two.Value)
	}
	if made, deleted := p.count(); made != 2 || deleted != 1 {
		t.Errorf("%d clusters were made and %d deleted, want 2 and 1", made, deleted)
	}
}

func TestAnInstructorResetsAnExercise(t *testing.T) {
	t.Parallel()
	r := startRoom(t)
	ada, id := r.learner("Ada")
	tab := ada.open(t)
	tab.openExercise("basics/say")
	tab.get("exercise.answer", map[string]any{"exercise": "basics/say", "check": "said", "value": "hello"}, nil)
	page := r.watch(r.grace)
	page.shows(id, "that Ada passes", func(row protocol.ClassRow) bool { return row.Passed == 1 })
	page.get("class.reset.exercise", map[string]any{"learner": id, "exercise": "basics/say"}, nil)
	page.shows(id, "that Ada begins anew", func(row protocol.ClassRow) bool { return row.Passed == 0 })
	tab.wait("notice", func(m message) bool { return strings.Contains(string(m.raw), "Grace has reset the exercise") })
	page.refuses("class.reset.exercise", map[string]any{"learner": id, "exercise": "basics/none"}, "there is no exercise")
}

func TestAHandoutReachesEveryCluster(t *testing.T) {
	t.Parallel()
	r := startRoom(t)
	ada, adas := r.learner("Ada")
	_, bobs := r.learner("Bob")
	tab := ada.open(t)
	tab.get("cluster.start", nil, nil)
	tab.wait("cluster", func(m message) bool { return strings.Contains(string(m.raw), `"state":"ready"`) })
	page := r.watch(r.grace)
	outcome := func(script string, want protocol.HandoutState) protocol.HandoutOutcome {
		t.Helper()
		page.get("class.handout", map[string]any{"title": script, "script": script}, nil)
		var found protocol.HandoutOutcome
		page.until("the outcome of "+script, func() bool {
			h := page.grid().Handout
			if h == nil || h.Title != script || !h.Done {
				return false
			}
			for _, o := range h.Outcomes {
				if o.Learner == bobs && o.State != protocol.HandoutLeft {
					t.Errorf("Bob, who has no cluster: %+v", o)
				}
				if o.Learner == adas {
					found = o
				}
			}
			return true
		})
		if found.State != want {
			t.Errorf("%s with Ada: %+v, want %s", script, found, want)
		}
		return found
	}
	outcome("echo broken > state.txt", protocol.HandoutDone)
	var file protocol.FileText
	tab.get("file.read", map[string]any{"path": "state.txt"}, &file)
	if file.Text != "broken\n" {
		t.Errorf("the file has %q", file.Text)
	}
	tab.wait("notice", func(m message) bool { return strings.Contains(string(m.raw), "has put something into your cluster") })
	if o := outcome("echo not so; false", protocol.HandoutFailed); !strings.Contains(o.Text, "not so") {
		t.Errorf("the failure says %q, want the script's output", o.Text)
	}
}

func TestPaceAndEnd(t *testing.T) {
	t.Parallel()
	r := startRoom(t)
	ada, _ := r.learner("Ada")
	tab := ada.open(t)
	page := r.watch(r.grace)
	page.get("class.lesson", map[string]any{"lesson": "basics/second", "closed": true}, nil)
	tab.desk("the closed lesson", func(c protocol.Class) bool { return slices.Equal(c.Closed, []string{"basics/second"}) })
	page.until("the closed lesson", func() bool {
		return slices.ContainsFunc(page.grid().Lessons, func(l protocol.ClassLesson) bool { return l.ID == "basics/second" && l.Closed })
	})
	page.get("class.lesson", map[string]any{"lesson": "basics/second", "closed": false}, nil)
	tab.desk("no closed lesson", func(c protocol.Class) bool { return len(c.Closed) == 0 })
	tab.wait("notice", func(m message) bool { return strings.Contains(string(m.raw), "has opened the lesson") })
	ends := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	page.get("class.extend", map[string]any{"ends": ends}, nil)
	page.until("the new end", func() bool { return page.grid().Class.Ends.Equal(ends) })
	page.get("class.extend", map[string]any{}, nil)
	page.until("no end", func() bool { return page.grid().Class.Ends.IsZero() })
}

func TestWarmUp(t *testing.T) {
	t.Parallel()
	r := startRoom(t)
	page, other := r.watch(r.grace), r.watch(r.grace)
	page.refuses("class.warm", map[string]any{"learners": 51}, "places for 50")
	page.refuses("class.warm", map[string]any{"learners": -1}, "places for 50")
	page.get("class.warm", map[string]any{"learners": 2}, nil)
	for _, tab := range []*tab{page, other} {
		tab.wait("class.warmup", func(m message) bool {
			var said protocol.ClassWarmUp
			m.decode(t, &said)
			return said.WarmUp.Wanted == 2 && said.WarmUp.Ready == 2 && !said.WarmUp.UnderWay
		})
	}
}

func TestNamesAreNeverMarkup(t *testing.T) {
	t.Parallel()
	r := startRoom(t)
	const hostile = `<img src=x onerror=alert(1)>"'`
	if err := r.store.SaveClass(t.Context(), store.Class{ID: r.class, Name: hostile, Capacity: 50}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{hostile, `=HYPERLINK("http://evil","x")`} {
		if _, err := r.store.Join(t.Context(), store.Code(strings.ReplaceAll(r.code, "-", "")), name, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	page := r.grace.get("/classes/" + r.class)
	page.wants(t, http.StatusOK, "&lt;img src=x")
	if strings.Contains(page.body, "<img") {
		t.Errorf("a name is markup:\n%s", page.body)
	}
	csv := r.grace.get("/classes/" + r.class + "/progress.csv")
	csv.wants(t, http.StatusOK, `"'=HYPERLINK(""http://evil"",""x"")"`, `"<img src=x onerror=alert(1)>""'"`)
	if kind := csv.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/csv") || !strings.HasPrefix(csv.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("the export is shown as %s, %s", kind, csv.header.Get("Content-Disposition"))
	}
	json := r.grace.get("/classes/" + r.class + "/progress.json")
	json.wants(t, http.StatusOK, `\u003cimg src=x`)
	tab := r.watch(r.grace)
	if raw := string(tab.wait("class.grid", nil).raw); strings.Contains(raw, "<img") || !strings.Contains(raw, `\u003cimg`) {
		t.Errorf("the grid has a name in a form that HTML would take: %s", raw)
	}
}
