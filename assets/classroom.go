package assets

import "io"

// Classroom is the instructor's page of a class, which its own code draws.
type Classroom struct {
	Page
	ID       string
	Name     string
	Handouts []Handout // exercises whose beginning can be handed out
}

// A Handout is an exercise that has a state to begin with.
type Handout struct {
	ID    string
	Title string
}

// Classroom writes the instructor's page of a class.
func (r *Renderer) Classroom(w io.Writer, p Classroom) error { return r.page(w, "classroom", p) }
