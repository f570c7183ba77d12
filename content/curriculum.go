// Package content holds the lessons: the embedded Markdown curriculum and the package that loads, checks and renders it.
// It knows that exercises have IDs and that pages fill slots, and nothing of clusters, checks or HTTP.
package content

import (
	"fmt"
	"html/template"
)

// A Curriculum is everything there is to learn, in the order it is shown.
type Curriculum struct {
	Tracks   []*Track
	Glossary []*Term // by name

	lessons map[string]*Lesson // by ID
	shown   map[string]*Lesson // by the ID of an exercise that it shows
}

// A Track is a sequence of lessons with one outcome: a folder with a track.yaml.
type Track struct {
	ID      string // the folder's name, e.g. "api-machinery"
	Title   string
	Summary string   // one or two sentences
	Outcome string   // what the learner can do afterwards, continuing "You will be able to …"
	Order   int      // place among the tracks, ascending
	Needs   []string // IDs of tracks that come before
	Lessons []*Lesson
	// References are the track's reference pages.
	References []*Reference
}

// Duration returns the minutes that all lessons of the track take.
func (t *Track) Duration() int {
	total := 0
	for _, l := range t.Lessons {
		total += l.Duration
	}
	return total
}

// A Lesson is one page: a folder "nn-slug" with an index.md. Lessons are ordered by nn; their IDs do not contain it, so
// that a lesson can move without losing a learner's progress.
type Lesson struct {
	ID         string // "track/slug", e.g. "api-machinery/the-watch-protocol"
	Track      string
	Slug       string
	Title      string
	Summary    string
	Duration   int // minutes, exercises included
	Difficulty Difficulty
	Needs      []string // IDs of lessons that come before
	Objectives []string // what the learner can do afterwards, each continuing "You can …"

	ExerciseIDs []string // in the order of their cards
	Headings    []Heading
	Sections    []Section
	Terms       []*Term // that are marked in it, in the order of their first occurrence
	Source      string  // path of its Markdown file in the loaded file system
	// Setup is a shell script that the platform runs before the transcripts are verified; it stands for what a learner
	// has in their cluster from this lesson's exercises.
	Setup       string
	Transcripts []Transcript
	// Backend is the backend of clusters that its transcripts need: any (or empty), embedded or kind.
	Backend string

	body *document
}

// Difficulty says how much a lesson asks of its reader.
type Difficulty string

// The difficulties.
const (
	Introductory Difficulty = "introductory" // kubectl get and kubectl apply are familiar, no more
	Intermediate Difficulty = "intermediate" // builds on the introductory lessons of its track
	Advanced     Difficulty = "advanced"     // for those who write controllers and operate clusters
)

// A Heading of a lesson, for tables of contents. ID is the anchor.
type Heading struct {
	Level int // 2 to 4
	ID    string
	Text  string
}

// A Transcript is one console block of a lesson: commands with the output that the lesson says they have.
type Transcript struct {
	Line  int // of the first step, in Source
	Steps []Step
}

// A Step of a transcript. In Want, "…" and "<name>" match anything, within a line; a line that is only "…" matches any
// number of lines.
type Step struct {
	Line    int
	Command string // as typed; continuation lines joined by "\n"
	Want    string // the output, without a final newline; empty: none
}

// A Problem is a mistake in the content, at a place where its author can mend it.
type Problem struct {
	File    string // path in the loaded file system
	Line    int    // from 1; 0: the file as a whole
	Message string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Message)
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// Slots are what a lesson's page fills in while it renders. A nil func leaves the plain form: a link to the exercise,
// the source of the diagram.
type Slots struct {
	// Exercise returns the card of an exercise.
	Exercise func(id string) (template.HTML, error)
	// Diagram returns the picture of a mermaid source (without a final newline), if there is one.
	Diagram func(source string) (svg template.HTML, ok bool)
}

// Lesson returns the lesson with this ID, or nil.
func (c *Curriculum) Lesson(id string) *Lesson {
	return c.lessons[id]
}

// Track returns the track with this ID, or nil.
func (c *Curriculum) Track(id string) *Track {
	for _, t := range c.Tracks {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// LessonOf returns the lesson that shows this exercise, or nil.
func (c *Curriculum) LessonOf(exercise string) *Lesson {
	return c.shown[exercise]
}

// Reference returns the reference page with this ID, or nil.
func (c *Curriculum) Reference(id string) *Reference {
	for _, t := range c.Tracks {
		for _, r := range t.References {
			if r.ID == id {
				return r
			}
		}
	}
	return nil
}

// index makes lessons quick to find.
func (c *Curriculum) index() {
	c.lessons, c.shown = map[string]*Lesson{}, map[string]*Lesson{}
	for _, t := range c.Tracks {
		for _, l := range t.Lessons {
			c.lessons[l.ID] = l
			for _, id := range l.ExerciseIDs {
				if c.shown[id] == nil {
					c.shown[id] = l
				}
			}
		}
	}
}
