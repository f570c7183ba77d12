package assets

import "html/template"

// A Page is what every page shows around its own content. NewPage fills what the browser remembers.
type Page struct {
	Title   string // of the browser's tab; the layout appends the product's name
	Scheme  Scheme // the reader's choice, "" follows their system
	Split   int    // share of the lesson's width that the text takes, in percent, 20 to 80; 0 is the default
	Version string // of apilab, shown in the help dialog and in the foot of the page
	Learner string // display name; "" when nobody is signed in, which also keeps the page from opening its websocket
}

// A Scheme is a colour scheme: "light", "dark" or "" for the system's.
type Scheme string

// The colour schemes that a reader can choose.
const (
	System Scheme = ""
	Light  Scheme = "light"
	Dark   Scheme = "dark"
)

// A Link is a title with its address on this server.
type Link struct {
	URL   string
	Title string
}

// Home is the page with all tracks.
type Home struct {
	Page
	Continue *Continue // nil for a learner who has not begun, and for one who has finished everything
	Tracks   []Track   // in the curriculum's order; one without lessons is shown as planned
}

// First is the lesson that a new learner begins with; nil when there is none.
func (h Home) First() *LessonItem {
	for _, t := range h.Tracks {
		if len(t.Lessons) > 0 {
			return &t.Lessons[0]
		}
	}
	return nil
}

// Planned returns the tracks that have no lessons yet.
func (h Home) Planned() (planned []Track) {
	for _, t := range h.Tracks {
		if len(t.Lessons) == 0 {
			planned = append(planned, t)
		}
	}
	return planned
}

// Continue says where the learner left off.
type Continue struct {
	URL    string // of the lesson; with "#exercise-<id>" it leads to the card
	Track  string // title
	Lesson string // title
	Done   int    // exercises of the lesson that are passed
	Total  int    // exercises of the lesson
	Next   string // title of the next exercise, may be empty
}

// A Track is a row of the home page.
type Track struct {
	ID      string // also the row's anchor
	Title   string
	Summary string // one or two sentences
	Outcome string // what the learner can do afterwards; may be empty
	Lessons []LessonItem
}

// Done counts the track's passed exercises.
func (t Track) Done() (n int) {
	for _, l := range t.Lessons {
		n += l.Done()
	}
	return n
}

// Total counts the track's exercises.
func (t Track) Total() (n int) {
	for _, l := range t.Lessons {
		n += len(l.Exercises)
	}
	return n
}

// Minutes sums the durations of the track's lessons.
func (t Track) Minutes() (n int) {
	for _, l := range t.Lessons {
		n += l.Minutes
	}
	return n
}

// A LessonItem is a lesson in a list.
type LessonItem struct {
	ID         string // "track/slug"
	URL        string
	Title      string
	Summary    string
	Minutes    int
	Difficulty string // one word, may be empty
	Exercises  []ExerciseItem
	Current    bool // where the learner left off, or the page's own lesson
}

// Done counts the lesson's passed exercises.
func (l LessonItem) Done() (n int) {
	for _, e := range l.Exercises {
		if e.Done {
			n++
		}
	}
	return n
}

// Total counts the lesson's exercises.
func (l LessonItem) Total() int { return len(l.Exercises) }

// Passed tells whether the lesson has exercises and all are passed.
func (l LessonItem) Passed() bool { return len(l.Exercises) > 0 && l.Done() == len(l.Exercises) }

// An ExerciseItem is an exercise in a list.
type ExerciseItem struct {
	ID    string
	Title string
	Done  bool // all of its checks have passed once
}

// Lesson is the page of one lesson: text on one side, the workbench on the other.
type Lesson struct {
	Page
	Track      Link   // the row of the home page: "/#<track id>"
	ID         string // "track/slug"
	Name       string // title of the lesson
	Summary    string
	Minutes    int
	Difficulty string
	Objectives []template.HTML // inline
	Needs      []Link          // lessons that come before
	Number     int             // of Count, from 1, in its track
	Count      int
	Siblings   []LessonItem // the track's lessons, for the contents menu
	Prev, Next *Link
	Headings   []Heading
	Body       template.HTML // rendered lesson, as the README's markup contract says; without the h1
	Exercises  []ExerciseItem
}

// A Heading of a lesson.
type Heading struct {
	ID    string
	Text  string
	Level int // 2 or 3
}

// An ExerciseCard is one exercise inside a lesson, as it looks before the page's own code takes over, in print, and
// without JavaScript.
type ExerciseCard struct {
	ID     string
	Title  string
	Task   template.HTML
	Checks []Check
	Needs  []Link // exercises that come before and are not passed yet
	Done   bool   // passed, by the store
}

// A Check is one line of an exercise card.
type Check struct {
	ID          string
	Says        string
	Kind        string        // object, objects, history, request, answer, choice, probe
	Mode        string        // once, holds
	Prompt      template.HTML // of answer and choice; inline
	Placeholder string        // of answer
	Options     []Option      // of choice
	Passed      bool          // by the store
}

// An Option of a choice.
type Option struct {
	ID   string
	Text template.HTML // inline
}

// SignIn is shown to a browser without a cookie, and after a link that is used or too old.
type SignIn struct {
	Page
	Problem string // one sentence: why the link did not work; "" when there was none
	Command string // prints a fresh link, "apilab open"
}

// ErrorPage says what happened, what it means for the learner's work, and what to do.
type ErrorPage struct {
	Page
	Code    int    // HTTP status
	Heading string // "" takes a sentence for the code
	Message string // what happened and what it means; "" takes one for the code
	Links   []Link // what to do; the way home is always added
	Request string // an id to find it by in the log, may be empty
}
