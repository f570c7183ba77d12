package server

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apilab/apilab/content"
	"github.com/apilab/apilab/exercises"
)

// A library is the lessons and exercises as they were loaded at one time. It does not change.
type library struct {
	curriculum *content.Curriculum
	exercises  map[string]*exercises.Exercise
	sources    map[string][sha256.Size]byte // of the exercises' files, by ID

	first map[*content.Term]*content.Lesson // that a term comes up in
	index func() (searchIndex, error)       // made when it is first asked for
}

// lessons returns all lessons in their order.
func (l *library) lessons() []*content.Lesson {
	var all []*content.Lesson
	for _, track := range l.curriculum.Tracks {
		all = append(all, track.Lessons...)
	}
	return all
}

// only returns the library with these tracks, in their order; all of them for none. What is in others can still be asked for
// by its ID.
func (l *library) only(tracks []string) *library {
	if len(tracks) == 0 {
		return l
	}
	shown, curriculum := *l, *l.curriculum
	curriculum.Tracks = nil
	for _, id := range tracks {
		if track := l.curriculum.Track(id); track != nil {
			curriculum.Tracks = append(curriculum.Tracks, track)
		}
	}
	shown.curriculum = &curriculum
	return &shown
}

// exercise returns the exercise with this ID, or nil.
func (l *library) exercise(id string) *exercises.Exercise { return l.exercises[id] }

// kindBackend is the backend whose nodes are real.
const kindBackend = "kind"

// realNodes tells whether a lesson, or an exercise of it, needs containers that really run.
func (l *library) realNodes(lesson *content.Lesson) bool {
	return lesson.Backend == kindBackend || slices.ContainsFunc(lesson.ExerciseIDs, func(id string) bool {
		e := l.exercise(id)
		return e != nil && e.Cluster.Wants() == kindBackend
	})
}

// load reads the library. What has a mistake is left out or shown as far as it can be, and never takes the rest down;
// problems name all mistakes. Exercises whose file is the same as in before (may be nil) stay the same values, so that
// whoever has one open need not open it anew.
func load(lessons, tasks fs.FS, before *library) (_ *library, problems []string) {
	l := &library{exercises: make(map[string]*exercises.Exercise), sources: make(map[string][sha256.Size]byte)}
	curriculum, mistakes := content.Load(lessons)
	l.curriculum = curriculum
	for _, m := range mistakes {
		problems = append(problems, "content/"+m.String())
	}
	set, wrong := exercises.Load(tasks)
	for _, m := range wrong {
		problems = append(problems, "exercises/"+m.String())
	}
	for _, e := range set.All() {
		l.sources[e.ID] = sourceOf(tasks, e)
		if before != nil && before.exercises[e.ID] != nil && before.sources[e.ID] == l.sources[e.ID] {
			e = before.exercises[e.ID]
		}
		l.exercises[e.ID] = e
	}
	l.first = make(map[*content.Term]*content.Lesson)
	for _, lesson := range l.lessons() {
		for _, term := range lesson.Terms {
			if l.first[term] == nil {
				l.first[term] = lesson
			}
		}
	}
	l.index = sync.OnceValues(func() (searchIndex, error) { return newSearchIndex(l) })
	return l, problems
}

// sourceOf is a digest of an exercise's file and of its backdrop's.
func sourceOf(tasks fs.FS, e *exercises.Exercise) [sha256.Size]byte {
	source, _ := fs.ReadFile(tasks, e.ID+".yaml")
	if e.Backdrop != "" {
		backdrop, _ := fs.ReadFile(tasks, path.Join(path.Dir(e.ID), "backdrops", e.Backdrop+".yaml"))
		source = append(append(source, 0), backdrop...)
	}
	return sha256.Sum256(source)
}

// A shelf has the newest library.
type shelf struct {
	dir     string // of an author, "" for what is built in
	log     *slog.Logger
	newest  atomic.Pointer[library]
	wrong   atomic.Pointer[[]string] // the mistakes in it
	watcher *watcher                 // nil for what is built in
}

// openShelf loads the built-in library, or that in dir.
func openShelf(dir string, log *slog.Logger) (*shelf, error) {
	s := &shelf{dir: dir, log: log}
	if dir != "" {
		folder := filepath.Join(dir, "content")
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("the content folder %s needs a folder \"content\" with the lessons, and one \"exercises\"", dir)
		}
	}
	s.load()
	return s, nil
}

func (s *shelf) current() *library { return s.newest.Load() }

// mistake says in a sentence what is wrong with the newest library, empty if nothing is. It is for authors: what is built in
// has no mistakes.
func (s *shelf) mistake() string {
	problems := *s.wrong.Load()
	switch n := len(problems); n {
	case 0:
		return ""
	case 1:
		return "There is a mistake in " + problems[0]
	default:
		return fmt.Sprintf("There are %d mistakes in the content; `apilab lint` shows them. The first is in %s", n, problems[0])
	}
}

// load puts what is there now on the shelf.
func (s *shelf) load() {
	var lessons, tasks fs.FS = content.Embedded(), exercises.Embedded()
	if s.dir != "" {
		lessons, tasks = os.DirFS(filepath.Join(s.dir, "content")), os.DirFS(filepath.Join(s.dir, "exercises"))
	}
	library, problems := load(lessons, tasks, s.current())
	for _, p := range problems {
		s.log.Warn("a mistake in the content", "at", p)
	}
	s.wrong.Store(&problems)
	s.newest.Store(library)
}

// follow loads the library again when an author changes it, and then calls changed.
func (s *shelf) follow(changed func()) (err error) {
	if s.dir == "" {
		return nil
	}
	s.watcher, err = watch([]string{filepath.Join(s.dir, "content"), filepath.Join(s.dir, "exercises")}, s.log, func() {
		s.load()
		changed()
	})
	return err
}

// Close stops following.
func (s *shelf) Close() error {
	if s.watcher == nil {
		return nil
	}
	return s.watcher.Close()
}
