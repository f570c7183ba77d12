package content

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// What parts of a lesson take, in minutes, as an estimate: somebody reads 200 words a minute, and looks at what a command
// prints for as long as it takes to run it.
const (
	minutesOfWord       = 1.0 / 200
	minutesOfCommand    = 0.3
	minutesOfListing    = 0.1 // a line
	minutesOfDiagram    = 0.5
	minutesOfPrediction = 0.5
)

// How far off a stated duration may be before it is worth a word.
const (
	offByFactor  = 2
	offByMinutes = 10
)

// Durations warns of lessons whose stated duration is far from what their length suggests. It is told what an exercise takes, in
// minutes. An estimate is no measurement: the warning is no mistake, but whoever stated the duration should look again.
func (c *Curriculum) Durations(exercise func(id string) float64) []Problem {
	var warnings []Problem
	for _, t := range c.Tracks {
		for _, l := range t.Lessons {
			estimate := l.body.minutes
			for _, id := range l.ExerciseIDs {
				estimate += exercise(id)
			}
			stated := float64(l.Duration)
			if stated == 0 || math.Abs(stated-estimate) <= offByMinutes || max(stated/estimate, estimate/stated) <= offByFactor {
				continue
			}
			warnings = append(warnings, Problem{l.Source, 1, fmt.Sprintf(
				"duration says %d minutes; words, commands and exercises suggest about %.0f", l.Duration, estimate)})
		}
	}
	slices.SortStableFunc(warnings, func(a, b Problem) int { return cmp.Compare(a.File, b.File) })
	return warnings
}

// takes adds what a part of a lesson takes.
func (p *parsing) takes(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		p.doc.minutes += minutesOfWord * float64(len(strings.Fields(string(n.Segment.Value(p.source)))))
	case *directive:
		if n.name == "predict" {
			p.doc.minutes += minutesOfPrediction
		}
	case *ast.FencedCodeBlock:
		in, _ := fenceInfo(n, p.source) // what is wrong with it is told elsewhere
		switch in.language {
		case "mermaid":
			p.doc.minutes += minutesOfDiagram
		case "sh":
			p.doc.minutes += minutesOfCommand
		case "console":
			p.doc.minutes += minutesOfCommand * float64(strings.Count("\n"+string(n.Lines().Value(p.source)), "\n"+prompt))
		default:
			p.doc.minutes += minutesOfListing * float64(n.Lines().Len())
		}
	}
}
