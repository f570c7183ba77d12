package content

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// referenceDir is the folder of a track that holds its reference pages.
const referenceDir = "reference"

// A Reference is a page to look things up in, "track/reference/slug.md".
type Reference struct {
	ID       string // "track/slug"
	Track    string
	Slug     string
	Title    string
	Summary  string
	Headings []Heading
	Sections []Section
	Terms    []*Term // that are marked in it, in the order of their first occurrence
	Source   string  // path of its Markdown file in the loaded file system

	body *document
}

// Render writes the page's body as HTML. It may be called concurrently.
func (r *Reference) Render(w io.Writer, slots Slots) error {
	if err := r.body.parts.render(w, slots); err != nil {
		return fmt.Errorf("render reference page %s: %w", r.ID, err)
	}
	return nil
}

// referenceMeta is the front matter of a reference page.
type referenceMeta struct {
	Title   string `yaml:"title"`
	Summary string `yaml:"summary"`
}

func (m *referenceMeta) missing() []string {
	var fields []string
	for name, empty := range map[string]bool{"title": m.Title == "", "summary": m.Summary == ""} {
		if empty {
			fields = append(fields, name)
		}
	}
	return fields
}

func (m *referenceMeta) wrong() []string { return nil }

var referenceFile = regexp.MustCompile(`^([a-z0-9]+(?:-[a-z0-9]+)*)\.md$`)

// references reads the reference pages of a track, ordered by their files' names.
func (l *loader) references(track string) []*Reference {
	dir := path.Join(track, referenceDir)
	entries, err := fs.ReadDir(l.fsys, dir)
	if err != nil {
		l.problem(dir, 0, "%v", err)
		return nil
	}
	var pages []*Reference
	for _, e := range entries {
		file := path.Join(dir, e.Name())
		m := referenceFile.FindStringSubmatch(e.Name())
		if e.IsDir() || m == nil {
			l.problem(file, 0, "a reference page is a file slug.md, for example cheat-sheet.md")
			continue
		}
		if r := l.reference(track, m[1], file); r != nil {
			pages = append(pages, r)
		}
	}
	return pages
}

func (l *loader) reference(track, slug, file string) *Reference {
	meta := referenceMeta{}
	doc := l.document(file, "title, summary", &meta)
	if doc == nil {
		return nil
	}
	for _, e := range doc.exercises {
		l.problem(file, e.line, "an exercise has its place in a lesson")
	}
	for _, t := range doc.transcripts {
		l.problem(file, t.Line-1, "a transcript has its place in a lesson, where verify runs it; show commands as ```sh")
	}
	return &Reference{
		ID: track + "/" + slug, Track: track, Slug: slug,
		Title: meta.Title, Summary: strings.TrimSpace(meta.Summary),
		Headings: doc.headings, Sections: doc.sections, Terms: doc.terms, Source: file, body: doc,
	}
}
