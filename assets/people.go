package assets

import (
	"html/template"
	"time"
)

// An Account is who is signed in on a server of classes; its pages lead to what they may do.
type Account struct {
	Name    string
	Teaches bool // makes and runs classes
	Admin   bool // makes instructors
}

// SignInAs asks who opened a sign-in link whether it is for them.
type SignInAs struct {
	Page
	Name string
	Role string
	Code string // of the link
}

// Join is where learners come in: with a join code and a name, or back with their personal code.
type Join struct {
	Page
	Problem  string // one or more sentences on what stands in the way; may be empty
	Class    string // that the code is of, where it came with the address; may be empty
	As       string // who is signed in already; may be empty
	Code     string // join code as typed
	Name     string // as typed
	Personal string // personal code as typed
}

// Joined welcomes a learner and shows their personal code.
type Joined struct {
	Page
	Name, Class string
	Code        string
}

// AccountPage is a person's own page.
type AccountPage struct {
	Page
	Name  string
	Role  string
	Class string // of a learner; empty: in none
	Code  string // their new personal code; empty: none was made now
}

// A Person is a line in a list of people.
type Person struct {
	ID    string
	Name  string
	Role  string
	Since time.Time
	Self  bool // who looks
}

// People is the page where an admin makes instructors.
type People struct {
	Page
	Problem string
	Link    string // a sign-in link that was made now; may be empty
	LinkFor string // name of its owner
	Staff   []Person
}

// A Class as lists and its own pages show it.
type Class struct {
	ID, Name string
	JoinCode string // with a dash
	Capacity int
	Members  int
	Starts   time.Time // zero: no such day
	Ends     time.Time
	Closed   bool
	State    string // for who wants to join: open, closed, full, not begun, over
}

// A ClassItem is a line in the list of classes.
type ClassItem struct {
	Class
	Instructor string // empty: who looks
}

// Classes is the list of an instructor's classes.
type Classes struct {
	Page
	Classes []ClassItem
}

// Invitation is a class's page for the wall: how to join it.
type Invitation struct {
	Page
	Class   Class
	Address string        // of the page that asks for the code
	QR      template.HTML // a picture of the address with the code in it
}

// ClassSettings is the form of a class, and who is in it.
type ClassSettings struct {
	Page
	New          bool
	Problem      string
	Saved        bool
	Class        Class
	Starts, Ends string // as their inputs have them
	Zone         string // of these times
	Tracks       []TrackChoice
	Members      []Person
	Code         string // a personal code that was made now; may be empty
	CodeFor      string // name of its owner
	Revoked      string // name of whose kubeconfigs were revoked now; may be empty
	Undeleted    bool   // the class was not deleted, as another name was typed
}

// A TrackChoice is a track that a class may have.
type TrackChoice struct {
	ID, Title string
	Place     int // in the order of the class, or of the curriculum
	Chosen    bool
}
