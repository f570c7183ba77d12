package exercises

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/apilab/apilab/exercises/spelling"
)

// A Backdrop is what several exercises of a track stand in front of: the same CRDs, say, and the controllers that act on
// them. Its file is <track>/backdrops/<name>.yaml.
type Backdrop struct {
	Setup       string       `json:"setup,omitempty"` // shell, before that of the exercise; idempotent
	Controllers []Controller `json:"controllers,omitempty"`
}

// Scene returns the backdrop of the exercise, nil where it has none.
func (e *Exercise) Scene() *Backdrop { return e.backdrop }

var validBackdrop = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?/backdrops/[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// backdrops are those that were read, by "<track>/<name>"; nil where the file has problems.
type backdrops map[string]*Backdrop

func (b backdrops) read(fsys fs.FS, id, file string) []Problem {
	key := strings.Replace(id, "/backdrops/", "/", 1)
	data, err := readBounded(fsys, file)
	if err != nil {
		b[key] = nil
		return []Problem{{File: file, Message: reason(err)}}
	}
	var problems []Problem
	b[key], problems = parseBackdrop(data)
	locate(problems, file, data)
	return problems
}

func parseBackdrop(data []byte) (*Backdrop, []Problem) {
	backdrop := &Backdrop{}
	d, problem := decodeFile("backdrop", data, backdrop)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	if len(d.problems) == 0 {
		v := &validator{decoder: d}
		v.shell("setup", backdrop.Setup)
		v.controllers("controllers", backdrop.Controllers)
	}
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return a.Line - b.Line })
	if len(d.problems) > 0 {
		return nil, d.problems
	}
	return backdrop, nil
}

// attach gives each exercise the backdrop that it names; one whose backdrop is not there or has problems leaves the set.
func (b backdrops) attach(set *Set) []Problem {
	var problems []Problem
	set.all = slices.DeleteFunc(set.all, func(e *Exercise) bool {
		if e.Backdrop == "" {
			return false
		}
		track := path.Dir(e.ID)
		message := ""
		backdrop, known := b[track+"/"+e.Backdrop]
		switch {
		case !known:
			message = fmt.Sprintf("there is no backdrop %q: its file would be %s/backdrops/%s.yaml", e.Backdrop, track, e.Backdrop)
			if near, ok := spelling.Nearest(e.Backdrop, b.of(track)); ok {
				message = fmt.Sprintf("there is no backdrop %q; did you mean %q?", e.Backdrop, near)
			}
		case backdrop == nil: // its own file says why
			message = fmt.Sprintf("the backdrop %q has problems", e.Backdrop)
		default:
			message = e.stand(backdrop)
		}
		if message == "" {
			return false
		}
		problems = append(problems, Problem{File: e.ID + ".yaml", Line: e.backdropLine, Message: message})
		delete(set.byID, e.ID)
		return true
	})
	return problems
}

// stand puts the exercise before the backdrop; it returns what is in the way, if anything is.
func (e *Exercise) stand(backdrop *Backdrop) string {
	for _, c := range backdrop.Controllers {
		if slices.ContainsFunc(e.Controllers, func(own Controller) bool { return own.Name == c.Name && own.For == c.For }) {
			return fmt.Sprintf("the controller %q for %s is in the backdrop %q as well", c.Name, c.For, e.Backdrop)
		}
	}
	e.backdrop = backdrop
	e.Controllers = slices.Concat(backdrop.Controllers, e.Controllers)
	e.Setup = strings.TrimLeft(strings.TrimRight(backdrop.Setup, "\n")+"\n"+e.Setup, "\n")
	return ""
}

// of returns the names of a track's backdrops.
func (b backdrops) of(track string) []string {
	var names []string
	for id := range b {
		if path.Dir(id) == track {
			names = append(names, path.Base(id))
		}
	}
	return names
}
