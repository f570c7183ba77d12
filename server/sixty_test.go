package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/protocol"
	"github.com/apilab/apilab/server/store"
)

// TestServeSixty serves a class of sixty scripted learners until it is killed: for tests of the instructor's page in a
// browser, and for its pictures (test/e2e/sixty.ts). They are members in the store with a hub, a page and progress each;
// their clusters are fakes, and what checks find in them is made up here.
func TestServeSixty(t *testing.T) {
	if os.Getenv("APILAB_SIXTY") == "" {
		t.Skip("it serves until it is killed; APILAB_SIXTY=1 starts it")
	}
	const lesson = "api-machinery/list-then-watch"
	now := time.Now()
	s := startPublic(t, func(o *Options) { o.ContentDir = "" })
	scripts := &scripts{of: make(map[string]script)}
	s.judge = scripts.judge
	tapes(s.Server)
	grace := s.instructor(t, "Grace")
	path := grace.newClass(t, url.Values{"name": {"Kubernetes API, Tuesday"}, "capacity": {"60"}, "track": {"api-machinery"}})
	class := strings.TrimPrefix(path, "/classes/")
	code := store.ParseCode(grace.joinCode(t, path))

	var learners []store.Joined
	for i, name := range sixtyNames() {
		s.store.SetClock(func() time.Time { return now.Add(-32*time.Minute + time.Duration(i)*time.Millisecond) })
		joined, err := s.store.Join(t.Context(), code, name, 24*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		learners = append(learners, joined)
	}
	library := s.library.current()
	for i, l := range learners {
		plan := script{passed: planned(i), stuckFor: stuckFor(i), now: now}
		scripts.set(l.Learner.ID, plan)
		if err := s.store.VisitLesson(t.Context(), l.Learner.ID, lesson); err != nil {
			t.Fatal(err)
		}
		if plan.passed < 0 {
			continue // has not opened the lesson's exercises
		}
		left := plan.passed
		for _, id := range library.curriculum.Lesson(lesson).ExerciseIDs {
			e := store.Exercise{ID: id}
			for _, c := range library.exercise(id).Checks {
				if left--; left >= 0 {
					e.Checks = append(e.Checks, store.Check{ID: c.ID, PassedAt: plan.passedAt(plan.passed - left - 1)})
				}
			}
			if err := s.store.SaveExercise(t.Context(), l.Learner.ID, e); err != nil {
				t.Fatal(err)
			}
		}
	}
	for n, i := range []int{7, 23, 41} {
		s.store.SetClock(func() time.Time { return now.Add(-time.Duration(2+3*n) * time.Minute) })
		if err := s.store.RaiseHand(t.Context(), learners[i].Learner.ID); err != nil {
			t.Fatal(err)
		}
	}
	s.store.SetClock(time.Now)
	for i, l := range learners {
		if !away(i) {
			s.sit(t, l, lesson, scripts.get(l.Learner.ID).passed >= 0)
		}
	}
	// Nobody waits here for as long as it takes to be idle.
	room, err := s.rooms.Room(t.Context(), class)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range learners {
		if i%13 == 5 {
			room.Follow(l.Learner.ID, hub.Report{Pages: 1, Active: now.Add(-time.Duration(6+i/4) * time.Minute), Cluster: cluster.Frozen, Lesson: lesson})
		}
	}
	link, err := s.SignInURL()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("{\"url\": %q, \"signIn\": %q, \"class\": %q}\n", s.PublicURL(), link, path)
	<-t.Context().Done()
}

// sit opens a learner's page, and in it the exercises of a lesson.
func (s *testServer) sit(t *testing.T, l store.Joined, lesson string, works bool) {
	t.Helper()
	header := http.Header{"Origin": {"http://" + s.Addr()}, "Cookie": {s.cookie + "=" + l.Token}}
	conn, _, err := websocket.Dial(t.Context(), "ws://"+s.Addr()+"/ws", &websocket.DialOptions{HTTPHeader: header, Subprotocols: []string{protocol.Subprotocol}})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	go func() {
		for {
			if _, _, err := conn.Read(t.Context()); err != nil {
				return
			}
		}
	}()
	if !works {
		return
	}
	for _, id := range s.library.current().curriculum.Lesson(lesson).ExerciseIDs {
		message, _ := json.Marshal(map[string]string{"type": "exercise.open", "exercise": id})
		if err := conn.Write(t.Context(), websocket.MessageText, message); err != nil {
			t.Fatal(err)
		}
	}
}

// planned is how many of the lesson's checks the learner at a place passes; -1: they have not begun.
func planned(i int) int {
	return [...]int{3, 5, 2, 7, 4, 1, 3, 2, 6, 3, 0, 4, 7, 2, 3, 5, 1, 4, 3, -1}[i*7%20]
}

// stuckFor is for how long they have not got on.
func stuckFor(i int) time.Duration {
	return time.Duration([...]int{1, 3, 0, 6, 2, 14, 1, 4, 0, 8, 1, 22, 2, 0, 5, 1, 11, 3, 0, 1}[i*11%20])*time.Minute + time.Duration(i)*time.Second/2
}

func away(i int) bool { return i%17 == 9 }

// A script is how a learner stands: they pass the first checks of the lesson, and not the next one.
type script struct {
	passed   int
	stuckFor time.Duration
	now      time.Time
}

// passedAt is when they passed the check at a place: the last one before they got stuck.
func (p script) passedAt(place int) time.Time {
	begun := 31*time.Minute - p.stuckFor
	return p.now.Add(-31*time.Minute + begun*time.Duration(place+1)/time.Duration(p.passed))
}

// whys are why the checks of the lesson do not pass yet, by check; the first is the most common one.
var whys = map[string][]string{
	"open":     {"No watch on Pods of `api-lab` is open", "The watch on Pods is of all namespaces, not of `api-lab` alone"},
	"added":    {"No event `ADDED` of the Pod `w1` has come through a watch yet", "The Pod `w1` was there before the watch began"},
	"modified": {"The Pod `w1` has not changed since the watch saw it"},
	"counts":   {"Not answered yet", "It is not the number of Pods, but of their versions"},
	"list":     {"No list of ConfigMaps in `api-lab` was asked for", "The list had `limit=500`"},
	"watch":    {"The watch began at `resourceVersion=0`, and not where the list ended", "No watch on ConfigMaps is open"},
	"gap":      {"Nothing has changed between the list and the watch"},
}

type scripts struct {
	mu sync.Mutex
	of map[string]script
}

func (s *scripts) set(learner string, p script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[learner] = p
}

func (s *scripts) get(learner string) script {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[learner]
}

func (s *scripts) judge(learner store.Learner, _ *rest.Config) hub.Session {
	return &scripted{script: s.get(learner.ID), learner: learner.ID, saved: make(map[string]checker.Saved)}
}

// scripted is a session that finds what its script says.
type scripted struct {
	script
	learner string

	mu    sync.Mutex
	told  func(checker.ExerciseState)
	saved map[string]checker.Saved
}

func (s *scripted) Open(_ context.Context, e *exercises.Exercise, saved checker.Saved) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved[e.ID] = saved
	state := checker.ExerciseState{ID: e.ID, Phase: checker.Open}
	for i, c := range e.Checks {
		status := checker.CheckStatus{ID: c.ID, Says: c.Says, Kind: c.Kind(), State: checker.Failing, Revision: 1}
		pass, passed := saved.Passed[c.ID]
		switch {
		case passed:
			status.State, status.Since = checker.Passing, pass.Since
		case i > 0 && state.Checks[i-1].State != checker.Passing:
			status.State = checker.Waiting
		default:
			its := whys[c.ID]
			if len(its) == 0 {
				its = []string{"The object is not there yet"}
			}
			status.Why = its[int(s.learner[len(s.learner)-1])%3%len(its)]
		}
		state.Checks = append(state.Checks, status)
	}
	if last := len(state.Checks) - 1; state.Checks[last].State == checker.Passing {
		state.PassedAt = &state.Checks[last].Since
	}
	go s.told(state)
	return nil
}

func (s *scripted) Saved(id string) checker.Saved {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saved[id]
}

func (s *scripted) Subscribe(fn func(checker.ExerciseState)) (stop func()) {
	s.told = fn
	return func() {}
}

func (s *scripted) SubscribeVersion(func(string)) (stop func())          { return func() {} }
func (s *scripted) CloseExercise(string) error                           { return nil }
func (s *scripted) Reset(context.Context, string) error                  { return nil }
func (s *scripted) Answer(context.Context, string, string, string) error { return nil }
func (s *scripted) Hint(string, string) error                            { return nil }
func (s *scripted) RevealSolution(string) (string, error)                { return "", nil }
func (s *scripted) Close()                                               {}

// sixtyNames are names as people have them, some long.
func sixtyNames() []string {
	return strings.Split("Ada Lovelace,Alan Turing,Amina Yusuf,Anders Hejlsberg,Anita Borg,Barbara Liskov,Ben Shneiderman,Bertrand Meyer,"+
		"Chidi Okafor,Claude Shannon,Dana Scott,Daphne Koller,Dennis Ritchie,Donald Knuth,Edsger Dijkstra,Elif Yılmaz,Erna Schneider Hoover,"+
		"Fatima al-Zahra Benali,Frances Allen,Fernando Corbató,Grete Hermann,Hedy Lamarr,Hiroshi Ishii,Ingrid Daubechies,Ivan Sutherland,Jean Bartik,"+
		"Jim Gray,Joan Clarke,John Backus,Julia Robinson,Karen Spärck Jones,Katherine Johnson,Ken Thompson,Kristen Nygaard,Lenore Blum,Leslie Lamport,"+
		"Lynn Conway,Margaret Hamilton,Marian Croak,Mary Kenneth Keller,Maurice Wilkes,Mei-Ling Zhao,Michael Rabin,Niklaus Wirth,Ole-Johan Dahl,"+
		"Peter Naur,Priya Raghunathan,Radia Perlman,Richard Hamming,Robin Milner,Rózsa Péter,Sergey Lebedev,Shafi Goldwasser,Sophie Wilson,"+
		"Stephen Kleene,Susan Graham,Tim Berners-Lee,Tony Hoare,Wu Xiaoling,Yukihiro Matsumoto", ",")
}
