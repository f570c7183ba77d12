package assets

import (
	"html/template"
	"slices"
)

// A Page is what every page shows around its own content. NewPage fills what the browser remembers.
type Page struct {
	Title   string // of the browser's tab; the layout appends the product's name
	Scheme  Scheme // the reader's choice, "" follows their system
	Split   int    // share of the lesson's width that the text takes, in percent, 20 to 80; 0 is the default
	Version string // of apilab, shown in the help dialog and in the foot of the page
	Learner string // display name; "" when nobody is signed in, which also keeps the page from opening its websocket
	// Account is who is signed in on a server of classes; nil on one's own machine, or when nobody is.
	Account *Account
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
	Finished bool      // everything there is, or that is open
	Class    string    // name of the learner's class; may be empty
	Closed   bool      // some lessons are not open yet
	Tracks   []Track   // in the curriculum's order; one without lessons is shown as planned
	Terms    int       // in the glossary
	// References are the reference pages of all tracks.
	References []Summary
}

// First is the open lesson that a new learner begins with; nil when there is none.
func (h Home) First() *LessonItem {
	for _, t := range h.Tracks {
		for i := range t.Lessons {
			if !t.Lessons[i].Closed {
				return &t.Lessons[i]
			}
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

// A Summary is a link with a sentence on what is there.
type Summary struct {
	Link
	Summary string
}

// Continue says where the learner left off.
type Continue struct {
	URL    string // of the lesson; with "#exercise-<id>" it leads to the card
	ID     string // of the lesson
	Begin  bool   // it is the first of a track that the learner has not begun
	Track  string // title
	Lesson string // title
	Done   int    // exercises of the lesson that are passed
	Total  int    // exercises of the lesson
	Next   string // title of the next exercise, may be empty
}

// A Track is a card of the home page, and has a page of its own.
type Track struct {
	ID      string
	URL     string
	Title   string
	Summary string // one or two sentences
	Outcome string // what the learner can do afterwards; may be empty
	Needs   []Need
	Lessons []LessonItem
	Current bool // where the learner left off
}

// A Need is a track that comes before.
type Need struct {
	Link
	Done bool
}

// Difficulty is the track's range of difficulty, in words.
func (t Track) Difficulty() string {
	order := []string{"introductory", "intermediate", "advanced"}
	first, last := len(order), -1
	for _, l := range t.Lessons {
		if i := slices.Index(order, l.Difficulty); i >= 0 {
			first, last = min(first, i), max(last, i)
		}
	}
	switch {
	case last < 0:
		return ""
	case first == last:
		return order[first]
	}
	return order[first] + " to " + order[last]
}

// Passed tells whether the track has exercises and all are passed.
func (t Track) Passed() bool { return t.Total() > 0 && t.Done() == t.Total() }

// TrackPage is the page of a track.
type TrackPage struct {
	Page
	Track      Track
	Number     int // of Count, from 1, among the tracks that have lessons
	Count      int
	Continue   *Continue // nil for who has finished the track
	References []Summary
	Next       *Link // the next track
}

// A Term of the glossary.
type Term struct {
	ID   string // its anchor in the glossary
	Name string
	Also []string
	Text template.HTML // inline
	In   *Link         // the first lesson that it comes up in
}

// Glossary is the page with all terms.
type Glossary struct {
	Page
	Terms []Term // by name
}

// Search is the page with what was found.
type Search struct {
	Page
	Query string // "" for who has not searched yet
	Hits  []Hit  // the best first
}

// A Hit is one thing that was found.
type Hit struct {
	Link
	Place     string // what it is, or is part of
	Excerpt   []Part
	RealNodes bool
}

// A Part of an excerpt; what was looked for is a hit.
type Part struct {
	Text string
	Hit  bool
}

// Reference is a page to look things up in.
type Reference struct {
	Page
	Track    Link
	ID       string // "track/slug"
	Name     string
	Summary  string
	Headings []Heading
	Body     template.HTML // as a lesson's
	Terms    []Term        // that are marked in Body
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
	RealNodes  bool // it, or an exercise of it, needs containers that really run
	Closed     bool // the learner's class is not there yet
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
	// RealNodes marks it among the others of its lesson, which do without containers that really run.
	RealNodes bool
}

// Lesson is the page of one lesson: text on one side, the workbench on the other.
type Lesson struct {
	Page
	Track      Link
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
	Prev, Next *Neighbour
	Headings   []Heading
	Terms      []Term        // that are marked in Body
	Body       template.HTML // rendered lesson, as the README's markup contract says; without the h1
	Exercises  []ExerciseItem
	Wants      *Wanted // by its transcripts; nil for any cluster
	RealNodes  bool    // as in LessonItem
}

// Wanted is the one kind of cluster that will do.
type Wanted struct {
	Backend string // "embedded" or "kind"
	Here    bool   // the learner's cluster is of it
}

// A Neighbour is the lesson before or after.
type Neighbour struct {
	Link
	Track string // title of its track, if that is another one
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
	// Simulated are sentences, one for each controller that plays a part here without being the real one.
	Simulated []template.HTML
	Wants     *Wanted // nil for any cluster
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
