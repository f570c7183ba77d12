package assets

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
	"time"
)

func execute(t *template.Template, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("render page: %w", err)
	}
	return b.Bytes(), nil
}

func (r *Renderer) funcs() template.FuncMap {
	return template.FuncMap{
		"script":   r.manifest.script,
		"preloads": r.manifest.preloads,
		"styles":   r.manifest.styles,
		"asset":    r.manifest.asset,
		"built":    r.Built,
		"anchor":   anchor,
		"duration": duration,
		"plural":   plural,
		"ticks":    ticks,
		"add":      func(a, b int) int { return a + b },
		"day":      day,
	}
}

// anchor makes an exercise's ID into the id of its card.
func anchor(exercise string) string { return "exercise-" + strings.ReplaceAll(exercise, "/", "-") }

// duration writes minutes as a reader says them: "25 min", "1 h 10 min".
func duration(minutes int) string {
	switch h, m := minutes/60, minutes%60; {
	case h == 0:
		return fmt.Sprintf("%d min", m)
	case m == 0:
		return fmt.Sprintf("%d h", h)
	default:
		return fmt.Sprintf("%d h %d min", h, m)
	}
}

// day writes a time for people, in the server's time zone; "" for none.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2 January 2006, 15:04")
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// ticks are the marks of a progress meter, true for what is done. A meter never has more than 48: past that, one tick
// stands for several exercises, and none is drawn as done before all it stands for are.
func ticks(done, total int) []bool {
	const most = 48
	n := min(total, most)
	marks := make([]bool, n)
	for i := range marks {
		marks[i] = (i+1)*total <= done*n
	}
	return marks
}
