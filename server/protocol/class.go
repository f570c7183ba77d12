package protocol

import (
	"time"

	"github.com/apilab/apilab/cluster"
)

// What a learner's page is told of their class.
type (
	// Class comes on each change of what a learner shares with their class, whole.
	Class struct {
		Member    bool           `json:"member"`          // of a class: there is somebody to raise a hand to
		HandAt    time.Time      `json:"handAt,omitzero"` // zero: the hand is down
		Messages  []ClassMessage `json:"messages"`        // that the learner has not dismissed, the oldest first
		Observers []Observer     `json:"observers"`
		Closed    []string       `json:"closed"` // lessons, by ID
	}
	// A ClassMessage is what an instructor wrote.
	ClassMessage struct {
		ID   int64     `json:"id"`
		From string    `json:"from"`
		Text string    `json:"text"`
		At   time.Time `json:"at"`
	}
	// An Observer is an instructor's page that looks at the learner's terminals.
	Observer struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Typing Typing `json:"typing"`
	}
)

// Typing says whether an observer may type.
type Typing string

// How far an observer is with it.
const (
	Looks   Typing = "no"
	Asked   Typing = "asked"   // the learner has not answered yet
	Allowed Typing = "allowed" // until either side ends it
)

// What an instructor's page is told of a class.
type (
	// ClassGrid comes first, and whenever more than a few learners have changed: everything that the page draws.
	ClassGrid struct {
		Class   ClassInfo     `json:"class"`
		Now     time.Time     `json:"now"`     // by the server's clock, which all times are of
		Lesson  string        `json:"lesson"`  // that the columns are of; empty: the class has none
		Lessons []ClassLesson `json:"lessons"` // of the class, in their order
		Checks  []ClassCheck  `json:"checks"`  // the columns
		Rows    []ClassRow    `json:"rows"`    // the learners, in the order in which they joined
		Stats   []CheckStats  `json:"stats"`   // by column
		Handout *Handout      `json:"handout"` // the last one; null: there was none
	}
	// ClassRowChanged has a learner's whole row.
	ClassRowChanged struct {
		Lesson string   `json:"lesson"` // that the row's cells are of
		Row    ClassRow `json:"row"`
	}
	// ClassStats has the numbers of all columns.
	ClassStats struct {
		Lesson string       `json:"lesson"`
		Stats  []CheckStats `json:"stats"`
	}
	// ClassHandout says how far a handout is.
	ClassHandout struct {
		Handout Handout `json:"handout"`
	}

	// ClassWarmUp says how far the making of clusters ahead is, which all classes of the server share.
	ClassWarmUp struct {
		WarmUp cluster.WarmUp `json:"warmUp"`
	}

	// ClassInfo is a class as its instructors see it.
	ClassInfo struct {
		ID   string    `json:"id"`
		Name string    `json:"name"`
		Ends time.Time `json:"ends,omitzero"` // zero: never
	}
	// A ClassLesson can be looked at, closed and opened.
	ClassLesson struct {
		ID     string `json:"id"`
		Title  string `json:"title"`
		Track  string `json:"track"`  // title
		Checks int    `json:"checks"` // of its exercises
		Here   int    `json:"here"`   // learners who opened it last
		Closed bool   `json:"closed"`
	}
	// A ClassCheck is a column of the grid.
	ClassCheck struct {
		Exercise string `json:"exercise"`
		Title    string `json:"title"` // of the exercise
		Check    string `json:"check"`
		Says     string `json:"says"`
	}
	// A ClassRow is a learner.
	ClassRow struct {
		Learner string        `json:"learner"`
		Name    string        `json:"name"`
		Seat    int           `json:"seat"` // from 1, in the order in which they joined: takes the name's place where that is hidden
		HandAt  time.Time     `json:"handAt,omitzero"`
		Active  time.Time     `json:"active,omitzero"` // when they last did something; zero: not since the server started
		Pages   int           `json:"pages"`           // open
		Busy    int           `json:"busy"`            // terminals in which a command runs
		Lesson  string        `json:"lesson"`          // title of the one that they opened last
		Cluster cluster.State `json:"cluster"`
		Stuck   time.Time     `json:"stuck,omitzero"` // since when they are, in the lesson looked at; zero: they are not
		Passed  int           `json:"passed"`         // of the cells
		Cells   []ClassCell   `json:"cells"`          // by column
	}
	// A ClassCell is where a learner stands with a check.
	ClassCell struct {
		State CellState `json:"state"`
		Since time.Time `json:"since,omitzero"` // passing: since then. Failing, broken: stuck since then; zero: not tried yet
		Why   string    `json:"why,omitempty"`  // not yet
	}
	// CheckStats are a column's numbers.
	CheckStats struct {
		Passed int           `json:"passed"`          // learners
		Opened int           `json:"opened"`          // learners, with those who passed
		Median time.Duration `json:"median"`          // from opening to passing, of those who passed; 0: nobody
		Why    string        `json:"why,omitempty"`   // the most common reason of those who do not pass
		Count  int           `json:"count,omitempty"` // of learners with that reason, or one that differs only in the values seen
	}
	// A Handout is a state that was brought into the clusters of a class.
	Handout struct {
		Title    string           `json:"title"`
		By       string           `json:"by"`
		At       time.Time        `json:"at"`
		Done     bool             `json:"done"`
		Outcomes []HandoutOutcome `json:"outcomes"` // by learner
	}
	// A HandoutOutcome is what became of it with one learner.
	HandoutOutcome struct {
		Learner string       `json:"learner"`
		State   HandoutState `json:"state"`
		Text    string       `json:"text,omitempty"` // why it failed or was left out
	}
)

// A CellState is a check's state, or closed.
type CellState string

// The states of a cell.
const (
	CellClosed  CellState = "closed"  // the learner has not opened the exercise
	CellWaiting CellState = "waiting" // opened; it needs other checks first, or nobody judges it now
	CellFailing CellState = "failing"
	CellPassing CellState = "passing"
	CellBroken  CellState = "broken"
)

// A HandoutState is how far a handout is with one learner.
type HandoutState string

// How far a handout is.
const (
	HandoutWaiting HandoutState = "waiting" // for its turn
	HandoutRunning HandoutState = "running"
	HandoutDone    HandoutState = "done"
	HandoutFailed  HandoutState = "failed"
	HandoutLeft    HandoutState = "left-out"
)

// What the pages send about classes, by type of message.
type (
	// Hand is sent with hand.
	Hand struct {
		Up bool `json:"up"`
	}
	// MessageDismiss is sent with message.dismiss.
	MessageDismiss struct {
		Message int64 `json:"message"`
	}
	// ObserverAllow is sent with observer.allow.
	ObserverAllow struct {
		Observer string `json:"observer"`
		Allow    bool   `json:"allow"`
	}
	// ObserverType is sent with observer.type.
	ObserverType struct {
		Ask bool `json:"ask"` // false: no more
	}
	// ClassShow is sent with class.show.
	ClassShow struct {
		Lesson string `json:"lesson"` // empty: where most learners are
	}
	// ClassLearner is sent with class.hand and class.reset.cluster.
	ClassLearner struct {
		Learner string `json:"learner"`
	}
	// ClassWrite is sent with class.message.
	ClassWrite struct {
		Learner string `json:"learner"` // empty: all
		Text    string `json:"text"`
	}
	// ClassPace is sent with class.lesson.
	ClassPace struct {
		Lesson string `json:"lesson"`
		Closed bool   `json:"closed"`
	}
	// ClassExtend is sent with class.extend.
	ClassExtend struct {
		Ends time.Time `json:"ends,omitzero"` // zero: the class has no end
	}
	// ClassWarm is sent with class.warm.
	ClassWarm struct {
		Learners int `json:"learners"` // 0: give up what is not ready yet
	}
	// ClassReset is sent with class.reset.exercise.
	ClassReset struct {
		Learner  string `json:"learner"`
		Exercise string `json:"exercise"`
	}
	// HandoutBegin is sent with class.handout: the setup of an exercise, or a script.
	HandoutBegin struct {
		Exercise string `json:"exercise"`
		Script   string `json:"script"`
		Title    string `json:"title"` // of the script
	}
)

// Values of replies.
type (
	// Shared answers a reset: two who ask for the same one get one, and the second is told whose it is.
	Shared struct {
		By string `json:"by,omitempty"` // who had begun it before; empty: this request did
	}
)

func (Class) kind() string           { return "class" }
func (ClassGrid) kind() string       { return "class.grid" }
func (ClassRowChanged) kind() string { return "class.row" }
func (ClassStats) kind() string      { return "class.stats" }
func (ClassHandout) kind() string    { return "class.handout" }
func (ClassWarmUp) kind() string     { return "class.warmup" }
