package content

import (
	"bytes"
	"html/template"
	"io"
)

// parts is a document rendered once: HTML with holes that each page fills. It is the writer that goldmark renders to.
type parts struct {
	list []part
	bytes.Buffer
}

// A part is HTML, or one of the holes.
type part struct {
	html     []byte
	exercise string // ID
	diagram  string // mermaid source; html then is what stands there without a picture
	title    string // of the diagram
}

// Buffered implements util.BufWriter.
func (p *parts) Buffered() int { return 0 }

// Flush implements util.BufWriter.
func (p *parts) Flush() error { return nil }

// hole ends the part being written and appends a hole.
func (p *parts) hole(h part) {
	p.end()
	p.list = append(p.list, h)
}

func (p *parts) end() {
	if p.Len() > 0 {
		p.list = append(p.list, part{html: bytes.Clone(p.Bytes())})
		p.Reset()
	}
}

// plain returns the document with its holes in their plain form.
func (p *parts) plain() string {
	var b bytes.Buffer
	_ = p.render(&b, Slots{}) // neither bytes.Buffer nor empty slots fail
	return b.String()
}

func (p *parts) render(w io.Writer, slots Slots) error {
	p.end()
	for _, part := range p.list {
		html, err := part.fill(slots)
		if err != nil {
			return err
		}
		if _, err := w.Write(html); err != nil {
			return err
		}
	}
	return nil
}

func (p *part) fill(slots Slots) ([]byte, error) {
	switch {
	case p.exercise != "" && slots.Exercise != nil:
		html, err := slots.Exercise(p.exercise)
		return []byte(html), err
	case p.exercise != "":
		return []byte(`<p class="exercise-missing">Exercise <code>` + template.HTMLEscapeString(p.exercise) + "</code></p>\n"), nil
	case p.diagram != "" && slots.Diagram != nil:
		if svg, ok := slots.Diagram(p.diagram); ok {
			return []byte(diagramFigure(p.title, svg)), nil
		}
	}
	return p.html, nil
}
