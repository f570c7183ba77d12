// Package assets is the web UI: the templates and view models that the server's pages are made of, and the built scripts,
// styles, fonts and diagrams, embedded. It knows nothing of where the view models' facts come from.
package assets

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
)

// dist is what `npm run build` writes; a clean clone has only dist/.keep, and the pages then say how to build it.
//
//go:embed all:dist templates
var embedded embed.FS

// A Renderer writes the pages. It is safe for concurrent use.
type Renderer struct {
	pages    map[string]*template.Template
	card     *template.Template
	manifest manifest
	files    *files
	dist     fs.FS
}

// Open returns the renderer of the embedded templates and build. It fails only when the build is damaged: without
// one, pages come bare, with a note.
func Open() (*Renderer, error) { return OpenFS(embedded) }

// OpenFS returns the renderer of a folder with the subfolders templates and dist; for work on the pages.
func OpenFS(fsys fs.FS) (*Renderer, error) {
	dist, err := fs.Sub(fsys, "dist")
	if err != nil {
		return nil, fmt.Errorf("open built assets: %w", err)
	}
	r := &Renderer{dist: dist, pages: make(map[string]*template.Template)}
	if r.manifest, err = readManifest(dist); err != nil {
		return nil, err
	}
	if r.files, err = readFiles(dist); err != nil {
		return nil, err
	}
	funcs := r.funcs()
	for _, page := range []string{"home", "track", "lesson", "reference", "glossary", "search", "nodelogs", "classroom", "signin", "signinas", "join", "joined", "account", "people", "classes", "invitation", "classsettings", "error"} {
		t, err := template.New("layout.html").Funcs(funcs).ParseFS(fsys, "templates/layout.html", "templates/parts.html", "templates/"+page+".html")
		if err != nil {
			return nil, fmt.Errorf("parse page templates: %w", err)
		}
		r.pages[page] = t
	}
	if r.card, err = template.New("exercise.html").Funcs(funcs).ParseFS(fsys, "templates/exercise.html", "templates/parts.html"); err != nil {
		return nil, fmt.Errorf("parse page templates: %w", err)
	}
	return r, nil
}

// Built tells whether scripts and styles are there.
func (r *Renderer) Built() bool { return len(r.manifest) > 0 }

// Home writes the page with all tracks.
func (r *Renderer) Home(w io.Writer, p Home) error { return r.page(w, "home", p) }

// Track writes the page of a track.
func (r *Renderer) Track(w io.Writer, p TrackPage) error { return r.page(w, "track", p) }

// Reference writes a reference page.
func (r *Renderer) Reference(w io.Writer, p Reference) error { return r.page(w, "reference", p) }

// Glossary writes the page with all terms.
func (r *Renderer) Glossary(w io.Writer, p Glossary) error { return r.page(w, "glossary", p) }

// Search writes the page with what was found.
func (r *Renderer) Search(w io.Writer, p Search) error { return r.page(w, "search", p) }

// Lesson writes the page of a lesson.
func (r *Renderer) Lesson(w io.Writer, p Lesson) error { return r.page(w, "lesson", p) }

// SignIn writes the page that a browser without a valid cookie sees.
func (r *Renderer) SignIn(w io.Writer, p SignIn) error { return r.page(w, "signin", p) }

// SignInAs writes the page that asks before a sign-in link is used up.
func (r *Renderer) SignInAs(w io.Writer, p SignInAs) error { return r.page(w, "signinas", p) }

// Join writes the page where learners come in.
func (r *Renderer) Join(w io.Writer, p Join) error { return r.page(w, "join", p) }

// Joined writes the page that welcomes a learner.
func (r *Renderer) Joined(w io.Writer, p Joined) error { return r.page(w, "joined", p) }

// Account writes a person's own page.
func (r *Renderer) Account(w io.Writer, p AccountPage) error { return r.page(w, "account", p) }

// People writes the page where instructors are made.
func (r *Renderer) People(w io.Writer, p People) error { return r.page(w, "people", p) }

// Classes writes the list of classes.
func (r *Renderer) Classes(w io.Writer, p Classes) error { return r.page(w, "classes", p) }

// Invitation writes a class's page for the wall.
func (r *Renderer) Invitation(w io.Writer, p Invitation) error { return r.page(w, "invitation", p) }

// ClassSettings writes the form of a class.
func (r *Renderer) ClassSettings(w io.Writer, p ClassSettings) error {
	return r.page(w, "classsettings", p)
}

// Error writes an error page; the status code of the response is the caller's to set.
func (r *Renderer) Error(w io.Writer, p ErrorPage) error { return r.page(w, "error", p.complete()) }

// Exercise returns the card for a lesson's body.
func (r *Renderer) Exercise(c ExerciseCard) (template.HTML, error) {
	html, err := execute(r.card, c)
	return template.HTML(html), err
}

// page renders whole before it writes, so that a failing template leaves no half page.
func (r *Renderer) page(w io.Writer, name string, data any) error {
	html, err := execute(r.pages[name], data)
	if err != nil {
		return err
	}
	_, err = w.Write(html)
	return err
}
