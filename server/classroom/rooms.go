package classroom

import (
	"context"
	"log/slog"
	"sync"

	"github.com/apilab/apilab/server/hub"
)

// Rooms are the classes that have been watched since the server started. A room is made when it is first asked for.
type Rooms struct {
	store   Store
	catalog Lessons
	// report lets the hub of a learner, if there is one, report all that it knows.
	report func(learner string)
	log    *slog.Logger

	making sync.Mutex // held while a room is made

	mu    sync.Mutex
	rooms map[string]*Room
	of    map[string]*Room // by learner
}

// NewRooms makes no room yet. report must have the learner's hub, if there is one, report all that it knows.
func NewRooms(s Store, catalog Lessons, report func(learner string), log *slog.Logger) *Rooms {
	return &Rooms{store: s, catalog: catalog, report: report, log: log, rooms: make(map[string]*Room), of: make(map[string]*Room)}
}

// Room returns the room of a class.
func (r *Rooms) Room(ctx context.Context, class string) (*Room, error) {
	r.making.Lock()
	defer r.making.Unlock()
	if room := r.known(class); room != nil {
		return room, nil
	}
	room := newRoom(class, r.store, r.catalog, r.log)
	if err := r.fill(ctx, room); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rooms[class] = room
	return room, nil
}

// Refresh is for a change of the class itself: of its members, its lessons, its dates. A class that nobody watches needs
// none.
func (r *Rooms) Refresh(ctx context.Context, class string) error {
	r.making.Lock()
	defer r.making.Unlock()
	room := r.known(class)
	if room == nil {
		return nil
	}
	return r.fill(ctx, room)
}

// Forget drops the room of a class that is deleted.
func (r *Rooms) Forget(class string) {
	r.making.Lock()
	defer r.making.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.rooms, class)
	for learner, room := range r.of {
		if room.class == class {
			delete(r.of, learner)
		}
	}
}

// Follow takes what a hub reports of a learner.
func (r *Rooms) Follow(learner string, report hub.Report) {
	r.mu.Lock()
	room := r.of[learner]
	r.mu.Unlock()
	if room != nil {
		room.Follow(learner, report)
	}
}

// Of returns the room that a learner is in, nil where nobody watches it.
func (r *Rooms) Of(learner string) *Room {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[learner]
}

func (r *Rooms) known(class string) *Room {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rooms[class]
}

// fill reads a room and lets the hubs of its learners report: first all that they know, and from then on each change.
func (r *Rooms) fill(ctx context.Context, room *Room) error {
	if err := room.Refresh(ctx); err != nil {
		return err
	}
	learners := room.Learners()
	r.mu.Lock()
	var added []string
	for id, other := range r.of {
		if other == room {
			delete(r.of, id) // who has left is not followed any more
		}
	}
	for _, id := range learners {
		if r.of[id] != room {
			added = append(added, id)
		}
		r.of[id] = room
	}
	r.mu.Unlock()
	for _, id := range added {
		r.report(id)
	}
	return nil
}
