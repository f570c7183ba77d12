package content

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
)

// lessonDir is "nn-slug".
var lessonDir = regexp.MustCompile(`^([0-9]{2})-([a-z0-9]+(?:-[a-z0-9]+)*)$`)

// trackDir is a slug; other folders (testdata) are not tracks.
var trackDir = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)

// Load reads a curriculum: a folder per track with a track.yaml, and in it a folder per lesson, "nn-slug/index.md". It
// returns what could be read along with everything that is wrong, ordered by file and line; a track or lesson with
// unreadable metadata is left out. The curriculum is never nil and is safe for concurrent use.
func Load(fsys fs.FS) (*Curriculum, []Problem) {
	l := &loader{fsys: fsys}
	c := l.curriculum()
	c.index()
	l.problems = append(l.problems, lintCurriculum(c)...)
	sortProblems(l.problems)
	return c, l.problems
}

type loader struct {
	fsys     fs.FS
	words    *words // of the glossary
	problems []Problem
}

func (l *loader) problem(file string, line int, format string, args ...any) {
	l.problems = append(l.problems, Problem{File: file, Line: line, Message: fmt.Sprintf(format, args...)})
}

func (l *loader) curriculum() *Curriculum {
	c := &Curriculum{Glossary: l.glossary()}
	l.words = newWords(c.Glossary)
	entries, err := fs.ReadDir(l.fsys, ".")
	if err != nil {
		l.problem(".", 0, "read the curriculum: %v", err)
		return c
	}
	for _, e := range entries {
		if !e.IsDir() || e.Name() == glossaryDir || !trackDir.MatchString(e.Name()) {
			continue
		}
		file := path.Join(e.Name(), "track.yaml")
		src, err := fs.ReadFile(l.fsys, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // not a track
		} else if err != nil {
			l.problem(file, 0, "%v", err)
			continue
		}
		if t := l.track(e.Name(), file, src); t != nil {
			c.Tracks = append(c.Tracks, t)
		}
	}
	if len(c.Tracks) == 0 && len(l.problems) == 0 {
		l.problem(".", 0, "no track here: a track is a folder with a track.yaml")
	}
	slices.SortStableFunc(c.Tracks, func(a, b *Track) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID))
	})
	return c
}

func (l *loader) track(id, file string, src []byte) *Track {
	meta := trackMeta{}
	if !l.decode(file, 0, src, &meta) {
		return nil
	}
	t := &Track{ID: id, Title: meta.Title, Summary: meta.Summary, Outcome: meta.Outcome, Order: meta.Order, Needs: meta.Needs}
	entries, err := fs.ReadDir(l.fsys, id) // sorted by name, so by nn
	if err != nil {
		l.problem(file, 0, "%v", err)
		return t
	}
	places := map[string]string{} // nn → folder
	slugs := map[string]string{}  // slug → folder
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if e.Name() == referenceDir {
			t.References = l.references(id)
			continue
		}
		dir := path.Join(id, e.Name())
		m := lessonDir.FindStringSubmatch(e.Name())
		if m == nil {
			l.problem(dir, 0, "a lesson's folder is named nn-slug, for example 03-the-watch-protocol")
			continue
		}
		if other, taken := places[m[1]]; taken {
			l.problem(dir, 0, "has the same number as %s", other)
		}
		if other, taken := slugs[m[2]]; taken {
			l.problem(dir, 0, "has the same slug as %s", other)
			continue
		}
		places[m[1]], slugs[m[2]] = e.Name(), e.Name()
		if lesson := l.lesson(id, m[2], path.Join(dir, "index.md")); lesson != nil {
			t.Lessons = append(t.Lessons, lesson)
		}
	}
	if len(t.Lessons) == 0 {
		l.problem(file, 0, "the track has no lesson")
	}
	return t
}

func (l *loader) lesson(track, slug, file string) *Lesson {
	meta := lessonMeta{}
	doc := l.document(file, "title, summary, duration, difficulty, objectives", &meta)
	if doc == nil {
		return nil
	}
	return &Lesson{
		ID: track + "/" + slug, Track: track, Slug: slug,
		Title: meta.Title, Summary: meta.Summary, Duration: meta.Duration,
		Difficulty: meta.Difficulty, Needs: meta.Needs, Objectives: meta.Objectives, Setup: meta.Setup, Backend: meta.Cluster.Backend,
		ExerciseIDs: doc.exerciseIDs(), Headings: doc.headings, Sections: doc.sections, Terms: doc.terms, Transcripts: doc.transcripts,
		Source: file, body: doc,
	}
}

// document reads a Markdown file with its front matter, whose fields are named in fields. It returns nil when there is
// nothing to show.
func (l *loader) document(file, fields string, m meta) *document {
	src, err := fs.ReadFile(l.fsys, file)
	if err != nil {
		l.problem(file, 0, "%v", err)
		return nil
	}
	front, body, line, err := splitFrontMatter(src)
	if errors.Is(err, errNoFrontMatter) {
		l.problem(file, 1, "%v: a line ---, then %s", err, fields)
		return nil
	} else if err != nil {
		l.problem(file, 1, "%v", err)
		return nil
	}
	if !l.decode(file, 1, front, m) {
		return nil
	}
	doc, problems := parse(file, body, line, l.words)
	for _, p := range problems {
		l.problem(file, p.line, "%s", p.message)
	}
	return doc
}

func sortProblems(p []Problem) {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}
