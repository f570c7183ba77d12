package classroom

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/protocol"
	"github.com/apilab/apilab/server/store"
)

// shelf is a store with one class.
type shelf struct {
	class    store.Class
	members  []store.Member
	progress map[string][]store.Exercise
	visits   map[string]string
	resets   map[string]map[string]time.Time
	closed   []string
}

func (s *shelf) Class(context.Context, string) (store.Class, error)      { return s.class, nil }
func (s *shelf) Members(context.Context, string) ([]store.Member, error) { return s.members, nil }
func (s *shelf) ClassProgress(context.Context, string) (map[string][]store.Exercise, error) {
	return s.progress, nil
}
func (s *shelf) ClosedLessons(context.Context, string) ([]string, error)       { return s.closed, nil }
func (s *shelf) LastVisits(context.Context, string) (map[string]string, error) { return s.visits, nil }
func (s *shelf) LastResets(context.Context, string) (map[string]map[string]time.Time, error) {
	return s.resets, nil
}

// screen is a page that keeps what it is sent.
type screen struct {
	mu    sync.Mutex
	sent  map[string]int // messages by type
	grid  protocol.ClassGrid
	bytes int
}

func (s *screen) Send(_ string, message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent == nil {
		s.sent = make(map[string]int)
	}
	var m struct {
		Type string
		protocol.ClassGrid
		Row protocol.ClassRow
	}
	if err := json.Unmarshal(message, &m); err != nil {
		panic(err)
	}
	s.sent[m.Type]++
	s.bytes += len(message)
	switch m.Type {
	case "class.grid":
		s.grid = m.ClassGrid
	case "class.row":
		for i := range s.grid.Rows {
			if s.grid.Rows[i].Learner == m.Row.Learner {
				s.grid.Rows[i] = m.Row
			}
		}
	case "class.stats":
		s.grid.Stats = m.Stats
	case "class.handout":
		s.grid.Handout = m.ClassGrid.Handout
	}
}

// cells is a row's cells as a word: the first letters of their states, upper case for the stuck ones.
func (s *screen) cells(learner string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var word strings.Builder
	for _, row := range s.grid.Rows {
		for _, c := range row.Cells {
			if row.Learner == learner {
				letter := string(c.State[0])
				if c.State == protocol.CellFailing && !c.Since.IsZero() {
					letter = "F"
				}
				word.WriteString(letter)
			}
		}
	}
	return word.String()
}

func (s *screen) row(t *testing.T, learner string) protocol.ClassRow {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range s.grid.Rows {
		if row.Learner == learner {
			return row
		}
	}
	t.Fatalf("no row of %s", learner)
	return protocol.ClassRow{}
}

var catalog = []Lesson{
	{ID: "t/one", Title: "One", Track: "T", Exercises: []Exercise{
		{ID: "t/a", Title: "A", Checks: []Check{{"a1", "says a1"}, {"a2", "says a2"}}},
		{ID: "t/b", Title: "B", Checks: []Check{{"b1", "says b1"}}},
	}},
	{ID: "t/two", Title: "Two", Track: "T", Exercises: []Exercise{{ID: "t/c", Title: "C", Checks: []Check{{"c1", "says c1"}}}}},
	{ID: "t/text", Title: "Text", Track: "T"},
}

func lessons([]string) []Lesson { return catalog }

// stage is a room with two learners and a page, in a bubble: time passes only when everybody waits.
type stage struct {
	*Rooms
	room  *Room
	shelf *shelf
	page  *screen
	began time.Time
}

func bubble(t *testing.T, test func(t *testing.T, s *stage), change ...func(*shelf)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{shelf: &shelf{class: store.Class{ID: "c", Name: "Class"}}, page: &screen{}, began: time.Now()}
		for _, name := range []string{"Ada", "Bob"} {
			s.shelf.members = append(s.shelf.members, store.Member{Learner: store.Learner{ID: strings.ToLower(name), Name: name}})
		}
		for _, c := range change {
			c(s.shelf)
		}
		s.Rooms = NewRooms(s.shelf, lessons, func(string) {}, slog.New(slog.DiscardHandler))
		room, err := s.Room(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		s.room = room
		room.Join(s.page)
		test(t, s)
	})
}

// state is of an open exercise: a check for each word such as "a1:failing:why it does not pass".
func state(id string, words ...string) *checker.ExerciseState {
	e := &checker.ExerciseState{ID: id, Phase: checker.Open}
	for _, word := range words {
		parts := strings.SplitN(word, ":", 3)
		c := checker.CheckStatus{ID: parts[0], State: checker.CheckState(parts[1])}
		if len(parts) == 3 {
			c.Why = parts[2]
		}
		e.Checks = append(e.Checks, c)
	}
	return e
}

func resting(e *checker.ExerciseState) *checker.ExerciseState {
	e.Phase = checker.Preparing
	return e
}

func (s *stage) tell(learner string, e *checker.ExerciseState) {
	s.Follow(learner, hub.Report{Pages: 1, Cluster: cluster.Ready, Exercise: e})
}

func TestCells(t *testing.T) {
	for name, tt := range map[string]struct {
		reports []*checker.ExerciseState // a minute apart
		want    string                   // of lesson one
		stuck   time.Duration            // since the first report; -1: not stuck
	}{
		"nothing opened":                 {nil, "ccc", -1},
		"opened":                         {[]*checker.ExerciseState{state("t/a", "a1:failing:x", "a2:waiting")}, "Fwc", 0},
		"one passed":                     {[]*checker.ExerciseState{state("t/a", "a1:failing:x", "a2:waiting"), state("t/a", "a1:passing", "a2:failing:y")}, "pFc", time.Minute},
		"the next exercise is not tried": {[]*checker.ExerciseState{state("t/a", "a1:failing:x", "a2:waiting"), state("t/b", "b1:failing:z")}, "Fwf", 0},
		"the next exercise is tried":     {[]*checker.ExerciseState{state("t/a", "a1:failing:x"), state("t/b", "b1:failing:z"), state("t/b", "b1:failing:other")}, "FwF", 0},
		"the next exercise is the front": {[]*checker.ExerciseState{state("t/b", "b1:failing:z"), state("t/a", "a1:passing", "a2:passing")}, "ppF", time.Minute},
		"turned red again":               {[]*checker.ExerciseState{state("t/a", "a1:passing", "a2:passing"), state("t/a", "a1:passing", "a2:failing:gone")}, "pFc", time.Minute},
		"progress elsewhere counts":      {[]*checker.ExerciseState{state("t/a", "a1:failing:x"), state("t/c", "c1:passing")}, "Fwc", time.Minute},
		"the cluster rests":              {[]*checker.ExerciseState{state("t/a", "a1:passing", "a2:failing:y"), resting(state("t/a", "a1:waiting", "a2:waiting"))}, "pFc", 0},
		"broken":                         {[]*checker.ExerciseState{state("t/a", "a1:broken:oops", "a2:waiting")}, "bwc", 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *stage) {
				for i, e := range tt.reports {
					if i > 0 {
						time.Sleep(time.Minute)
					}
					s.tell("ada", e)
				}
				time.Sleep(time.Second)
				if got := s.page.cells("ada"); got != tt.want {
					t.Errorf("cells %s, want %s", got, tt.want)
				}
				row := s.page.row(t, "ada")
				if got := row.Stuck.Sub(s.began); tt.stuck < 0 != row.Stuck.IsZero() || tt.stuck >= 0 && got != tt.stuck {
					t.Errorf("stuck since %v, want %v after the beginning", row.Stuck, tt.stuck)
				}
				if got := s.page.cells("bob"); got != "ccc" {
					t.Errorf("the cells of another learner: %s", got)
				}
			})
		})
	}
}

func TestWhoIsAwayComesFromTheStore(t *testing.T) {
	past := time.Date(1999, 12, 31, 12, 0, 0, 0, time.UTC)
	bubble(t, func(t *testing.T, s *stage) {
		if s.page.grid.Lesson != "t/one" {
			t.Errorf("the page looks at %q, want where Ada was last", s.page.grid.Lesson)
		}
		if got := s.page.cells("ada"); got != "pwp" {
			t.Errorf("cells %s, want pwp", got)
		}
		stats := s.page.grid.Stats[0]
		if stats.Passed != 1 || stats.Opened != 1 || stats.Median != 5*time.Minute {
			t.Errorf("stats %+v, want one who passed, five minutes after the reset", stats)
		}
		s.tell("ada", state("t/a", "a1:failing:x", "a2:failing:y"))
		if err := s.Refresh(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		if got := s.page.cells("ada"); got != "FFp" {
			t.Errorf("cells %s after the hub knew better, want FFp", got)
		}
	}, func(s *shelf) {
		s.visits = map[string]string{"ada": "t/one"}
		s.progress = map[string][]store.Exercise{"ada": {
			{ID: "t/a", OpenedAt: past.Add(-time.Hour), Checks: []store.Check{{ID: "a1", PassedAt: past.Add(5 * time.Minute)}, {ID: "a2", Hints: 1}}},
			{ID: "t/b", OpenedAt: past, PassedAt: past.Add(time.Hour)},
			{ID: "t/gone", OpenedAt: past},
		}}
		s.resets = map[string]map[string]time.Time{"ada": {"t/a": past}}
	})
}

func TestAResetBeginsAnew(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.tell("ada", state("t/a", "a1:passing", "a2:failing:y"))
		time.Sleep(time.Hour)
		s.Follow("ada", hub.Report{Exercise: state("t/a", "a1:passing"), Reset: true})
		s.tell("ada", state("t/a", "a1:failing:x", "a2:failing:y"))
		time.Sleep(time.Second)
		if got, row := s.page.cells("ada"), s.page.row(t, "ada"); got != "FFc" || row.Stuck.Sub(s.began) != time.Hour {
			t.Errorf("cells %s, stuck since %v; want FFc since the reset", got, row.Stuck)
		}
	})
}

func TestChangesAreGathered(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		for i := range 1000 {
			s.tell("ada", state("t/a", fmt.Sprintf("a1:failing:%d", i)))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		if n := s.page.sent["class.row"]; n < 3 || n > 5 {
			t.Errorf("%d rows were told in a second, want one each 250 ms", n)
		}
		if why := s.page.row(t, "ada").Cells[0].Why; why != "999" {
			t.Errorf("the last why is %q, want 999", why)
		}
		rows := s.page.sent["class.row"]
		s.tell("ada", state("t/a", "a1:failing:999"))
		time.Sleep(time.Second)
		if s.page.sent["class.row"] != rows {
			t.Error("a row was told that has not changed")
		}
	})
}

func TestPagesLookAtLessonsOfTheirOwn(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		other := &screen{}
		s.room.Join(other)
		s.room.Show(other, "t/two")
		s.tell("ada", state("t/c", "c1:passing"))
		time.Sleep(time.Second)
		if got := other.cells("ada"); got != "p" {
			t.Errorf("who looks at lesson two sees %q, want p", got)
		}
		if got := s.page.cells("ada"); got != "ccc" {
			t.Errorf("who looks at lesson one sees %q, want ccc", got)
		}
		s.room.Show(other, "t/text")
		if len(other.grid.Checks) != 0 || len(other.grid.Rows) != 2 {
			t.Errorf("a lesson without exercises: %+v", other.grid)
		}
		s.room.Leave(other)
		s.room.Leave(s.page)
		before := s.page.bytes
		s.tell("ada", state("t/a", "a1:passing"))
		time.Sleep(time.Second)
		if s.page.bytes != before {
			t.Error("a page was told something after it had left")
		}
	})
}

func TestMembersComeAndGo(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.shelf.members = append(s.shelf.members[1:], store.Member{Learner: store.Learner{ID: "cy", Name: "Cy"}, HandAt: s.began})
		if err := s.Refresh(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		s.tell("ada", state("t/a", "a1:passing")) // who has left: no matter
		s.tell("cy", state("t/a", "a1:passing", "a2:failing:y"))
		time.Sleep(time.Second)
		if len(s.page.grid.Rows) != 2 || s.page.grid.Rows[1].Seat != 2 || s.page.cells("cy") != "pFc" || s.page.row(t, "cy").HandAt.IsZero() {
			t.Errorf("rows %+v", s.page.grid.Rows)
		}
		s.room.SetHand("cy", time.Time{})
		time.Sleep(time.Second)
		if !s.page.row(t, "cy").HandAt.IsZero() {
			t.Error("the hand is still up")
		}
	})
}

func TestAPageBeginsWhereMostLearnersAre(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		for _, learner := range []string{"ada", "bob"} {
			s.Follow(learner, hub.Report{Pages: 1, Lesson: "t/two", Active: s.began})
		}
		page := &screen{}
		s.room.Join(page)
		if page.grid.Lesson != "t/two" || page.grid.Lessons[1].Here != 2 || page.row(t, "ada").Lesson != "Two" {
			t.Errorf("the page looks at %q: %+v", page.grid.Lesson, page.grid.Lessons)
		}
	})
}
