package server

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/apilab/apilab/content"
	"github.com/apilab/apilab/exercises"
)

// A library is the lessons and exercises as they were loaded at one time. It does not change.
type library struct {
	curriculum *content.Curriculum
	exercises  map[string]*exercises.Exercise
	sources    map[string][sha256.Size]byte // of the exercises' files, by ID
}

// exercise returns the exercise with this ID, or nil.
func (l *library) exercise(id string) *exercises.Exercise { return l.exercises[id] }

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
		source, err := fs.ReadFile(tasks, e.ID+".yaml")
		if err == nil {
			l.sources[e.ID] = sha256.Sum256(source)
		}
		if before != nil && before.exercises[e.ID] != nil && before.sources[e.ID] == l.sources[e.ID] {
			e = before.exercises[e.ID]
		}
		l.exercises[e.ID] = e
	}
	return l, problems
}

// A shelf has the newest library.
type shelf struct {
	dir     string // of an author, "" for what is built in
	log     *slog.Logger
	newest  atomic.Pointer[library]
	watcher *watcher // nil for what is built in
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

// load puts what is there now on the shelf, and returns the mistakes in it.
func (s *shelf) load() (problems []string) {
	var lessons, tasks fs.FS = content.Embedded(), exercises.Embedded()
	if s.dir != "" {
		lessons, tasks = os.DirFS(filepath.Join(s.dir, "content")), os.DirFS(filepath.Join(s.dir, "exercises"))
	}
	library, problems := load(lessons, tasks, s.current())
	for _, p := range problems {
		s.log.Warn("a mistake in the content", "at", p)
	}
	s.newest.Store(library)
	return problems
}

// follow loads the library again when an author changes it, and then calls changed with the mistakes in it.
func (s *shelf) follow(changed func(problems []string)) (err error) {
	if s.dir == "" {
		return nil
	}
	s.watcher, err = watch(s.dir, s.log, func() {
		changed(s.load())
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
