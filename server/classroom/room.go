// Package classroom keeps, for each class that is watched, the grid of its learners and their checks: from the hubs as
// things happen, and from the store for who is away or came before a restart. It tells pages whole rows. It knows nothing
// of HTTP, and asks nobody anything while a class runs: not one cluster is polled.
package classroom

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/protocol"
	"github.com/apilab/apilab/server/store"
)

// tellPause is how long changes are gathered before pages are told of them.
const tellPause = 250 * time.Millisecond

// A Page shows the class in a browser; Send is as of a hub's page.
type Page interface {
	Send(key string, message []byte)
}

// A Store is what a room reads; a *store.Store is one.
type Store interface {
	Class(ctx context.Context, id string) (store.Class, error)
	Members(ctx context.Context, class string) ([]store.Member, error)
	ClassProgress(ctx context.Context, class string) (map[string][]store.Exercise, error)
	ClosedLessons(ctx context.Context, class string) ([]string, error)
	LastVisits(ctx context.Context, class string) (map[string]string, error)
	LastResets(ctx context.Context, class string) (map[string]map[string]time.Time, error)
}

// A Lesson is what a room knows of one.
type Lesson struct {
	ID, Title, Track string // Track is its title
	Exercises        []Exercise
}

// An Exercise is what a room knows of one.
type Exercise struct {
	ID, Title string
	Checks    []Check
}

// A Check is what a room knows of one.
type Check struct{ ID, Says string }

// Lessons returns the lessons of tracks, all there are for none, in their order.
type Lessons func(tracks []string) []Lesson

// A Room is one class. It is safe for concurrent use.
type Room struct {
	class   string
	store   Store
	catalog Lessons
	log     *slog.Logger

	refreshing sync.Mutex // held while the store is read

	mu       sync.Mutex
	info     protocol.ClassInfo
	lessons  []Lesson
	closed   map[string]bool // lessons
	order    []string        // learners, as they joined
	learners map[string]*learner
	pages    map[Page]string // with the lesson each looks at
	views    map[string]*view
	handout  *protocol.Handout
	telling  bool // will soon tell
}

// A view is what the pages know that look at one lesson.
type view struct {
	rows    map[string][]byte // as they were told, by learner
	stats   []byte
	changed map[string]bool // learners whose rows may differ
}

func newRoom(class string, s Store, catalog Lessons, log *slog.Logger) *Room {
	return &Room{
		class: class, store: s, catalog: catalog, log: log,
		learners: make(map[string]*learner), pages: make(map[Page]string), views: make(map[string]*view),
	}
}

// Refresh reads the class, its members and their progress anew, and shows it all to the pages: for a change of the class
// itself. What is known from hubs stays.
func (r *Room) Refresh(ctx context.Context) error {
	r.refreshing.Lock()
	defer r.refreshing.Unlock()
	read, err := r.read(ctx)
	if err != nil {
		return fmt.Errorf("read class %s: %w", r.class, err)
	}
	lessons := r.catalog(read.class.Tracks)

	r.mu.Lock()
	defer r.mu.Unlock()
	r.info = protocol.ClassInfo{ID: read.class.ID, Name: read.class.Name, Ends: read.class.Ends}
	r.lessons = lessons
	r.closed = make(map[string]bool)
	for _, id := range read.closed {
		r.closed[id] = true
	}
	before := r.learners
	r.order, r.learners = nil, make(map[string]*learner)
	for _, m := range read.members {
		l := before[m.ID]
		if l == nil {
			l = newLearner(m.ID)
		}
		l.name, l.hand = m.Name, m.HandAt
		if l.lesson == "" {
			l.lesson = read.visits[m.ID]
		}
		for _, e := range read.progress[m.ID] {
			l.attempt(e.ID).recall(e, read.resets[m.ID][e.ID])
		}
		r.order = append(r.order, m.ID)
		r.learners[m.ID] = l
	}
	for page, lesson := range r.pages {
		r.show(page, lesson)
	}
	return nil
}

// stored is what the store has of a class.
type stored struct {
	class    store.Class
	members  []store.Member
	progress map[string][]store.Exercise
	visits   map[string]string
	resets   map[string]map[string]time.Time
	closed   []string
}

func (r *Room) read(ctx context.Context) (read stored, err error) {
	if read.class, err = r.store.Class(ctx, r.class); err != nil {
		return read, err
	}
	if read.members, err = r.store.Members(ctx, r.class); err != nil {
		return read, err
	}
	if read.progress, err = r.store.ClassProgress(ctx, r.class); err != nil {
		return read, err
	}
	if read.visits, err = r.store.LastVisits(ctx, r.class); err != nil {
		return read, err
	}
	if read.resets, err = r.store.LastResets(ctx, r.class); err != nil {
		return read, err
	}
	read.closed, err = r.store.ClosedLessons(ctx, r.class)
	return read, err
}

// Join adds a page, which looks where most learners are.
func (r *Room) Join(p Page) { r.Show(p, "") }

// Show makes a page look at a lesson, or for "" where most learners are.
func (r *Room) Show(p Page, lesson string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.show(p, lesson)
}

// Leave removes a page.
func (r *Room) Leave(p Page) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lesson := r.pages[p]
	delete(r.pages, p)
	for _, other := range r.pages {
		if other == lesson {
			return
		}
	}
	delete(r.views, lesson)
}

// Follow takes what a hub reports of a learner. It does not block.
func (r *Room) Follow(learner string, report hub.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.learners[learner]
	if l == nil {
		return // they have left the class
	}
	l.follow(report, time.Now())
	r.changed(learner)
}

// SetHand says since when a learner's hand is up; zero: it is down.
func (r *Room) SetHand(learner string, since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.learners[learner]; l != nil {
		l.hand = since
		r.changed(learner)
	}
}

// TitleOf returns the title of a lesson, "" for one that the class does not have.
func (r *Room) TitleOf(lesson string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.titleOf(lesson)
}

// show sends a page everything; mu is held.
func (r *Room) show(p Page, lesson string) {
	shown := r.lesson(lesson)
	r.pages[p] = shown.ID
	v := r.views[shown.ID]
	if v == nil {
		v = &view{rows: make(map[string][]byte), changed: make(map[string]bool)}
		r.views[shown.ID] = v
	}
	grid := protocol.ClassGrid{
		Class:   r.info,
		Now:     time.Now(),
		Lesson:  shown.ID,
		Lessons: r.list(),
		Checks:  columns(shown),
		Rows:    make([]protocol.ClassRow, 0, len(r.order)),
		Handout: r.handout,
	}
	for i := range r.order {
		row := r.row(i, shown)
		grid.Rows = append(grid.Rows, row)
		v.rows[row.Learner] = r.encode(protocol.ClassRowChanged{Lesson: shown.ID, Row: row})
	}
	grid.Stats = r.stats(shown)
	v.stats = r.encode(protocol.ClassStats{Lesson: shown.ID, Stats: grid.Stats})
	// What waits for the page under other keys is older; its lesson or its row is then taken back by this one.
	p.Send("class", r.encode(grid))
}

// changed marks a learner's rows to be told; mu is held.
func (r *Room) changed(learner string) {
	for _, v := range r.views {
		v.changed[learner] = true
	}
	if r.telling || len(r.views) == 0 {
		return
	}
	r.telling = true
	time.AfterFunc(tellPause, r.tell)
}

// tell sends the rows that have changed, and the columns' numbers.
func (r *Room) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.telling = false
	for id, v := range r.views {
		lesson := r.lesson(id)
		for i, learner := range r.order {
			if !v.changed[learner] {
				continue
			}
			row := r.encode(protocol.ClassRowChanged{Lesson: id, Row: r.row(i, lesson)})
			if bytes.Equal(row, v.rows[learner]) {
				continue
			}
			v.rows[learner] = row
			r.send(id, "row "+learner, row)
		}
		clear(v.changed)
		stats := r.encode(protocol.ClassStats{Lesson: id, Stats: r.stats(lesson)})
		if !bytes.Equal(stats, v.stats) {
			v.stats = stats
			r.send(id, "stats", stats)
		}
	}
}

// send sends to the pages that look at a lesson; mu is held.
func (r *Room) send(lesson, key string, message []byte) {
	for page, shown := range r.pages {
		if shown == lesson {
			page.Send(key, message)
		}
	}
}

func (r *Room) encode(m protocol.Message) []byte {
	data, err := protocol.Encode(m)
	if err != nil {
		r.log.Error("tell the pages of a class", "class", r.class, "error", err)
	}
	return data
}

// lesson returns a lesson of the class. For one that it does not have: where most learners are who have a page open, or
// most of all, or the first; mu is held.
func (r *Room) lesson(id string) Lesson {
	visits := r.visits()
	var best Lesson
	most := -1
	for _, l := range r.lessons {
		if l.ID == id {
			return l
		}
		if n := visits[l.ID]; n > most {
			best, most = l, n
		}
	}
	return best
}

// visits counts by lesson the learners who opened it last; mu is held.
func (r *Room) visits() map[string]int {
	visits := make(map[string]int)
	for _, l := range r.learners {
		visits[l.lesson]++
	}
	return visits
}

// list is the menu of lessons; mu is held.
func (r *Room) list() []protocol.ClassLesson {
	visits := r.visits()
	list := make([]protocol.ClassLesson, 0, len(r.lessons))
	for _, l := range r.lessons {
		list = append(list, protocol.ClassLesson{
			ID: l.ID, Title: l.Title, Track: l.Track, Checks: len(columns(l)), Here: visits[l.ID], Closed: r.closed[l.ID]})
	}
	return list
}

func columns(l Lesson) []protocol.ClassCheck {
	all := []protocol.ClassCheck{}
	for _, e := range l.Exercises {
		for _, c := range e.Checks {
			all = append(all, protocol.ClassCheck{Exercise: e.ID, Title: e.Title, Check: c.ID, Says: c.Says})
		}
	}
	return all
}

// row is the learner at a place of the order; mu is held.
func (r *Room) row(place int, lesson Lesson) protocol.ClassRow {
	l := r.learners[r.order[place]]
	row := protocol.ClassRow{
		Learner: l.id, Name: l.name, Seat: place + 1, HandAt: second(l.hand), Active: second(l.active),
		Pages: l.pages, Busy: l.busy, Lesson: r.titleOf(l.lesson), Cluster: l.cluster, Cells: l.cells(lesson),
	}
	if row.Cluster == "" {
		row.Cluster = cluster.Absent
	}
	for _, c := range row.Cells {
		switch {
		case c.State == protocol.CellPassing:
			row.Passed++
		case c.State == protocol.CellFailing || c.State == protocol.CellBroken:
			if !c.Since.IsZero() && (row.Stuck.IsZero() || c.Since.Before(row.Stuck)) {
				row.Stuck = c.Since
			}
		}
	}
	return row
}

// titleOf is TitleOf; mu is held.
func (r *Room) titleOf(lesson string) string {
	for _, l := range r.lessons {
		if l.ID == lesson {
			return l.Title
		}
	}
	return ""
}

// second is a time as pages are told it: they show minutes.
func second(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Second)
}

// Learners returns the IDs of the learners, in the order in which they joined.
func (r *Room) Learners() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.order)
}
