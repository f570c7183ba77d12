package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/apilab/apilab/cli/bench/figures"
)

// A Report is what was measured, and on what.
type Report struct {
	Time    time.Time       `json:"time"`
	Machine figures.Machine `json:"machine"`
	Figures []Figure        `json:"figures"`

	backend string // of the cluster that is measured
}

// A Figure is one measured value.
type Figure struct {
	Backend string  `json:"backend"` // of the cluster, "embedded" or "kind"
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Goal    float64 `json:"goal,omitempty"` // at most; 0: none
}

func newReport() *Report {
	return &Report{Time: time.Now().UTC().Truncate(time.Second), Machine: figures.ThisMachine(), backend: embedded}
}

// add notes a figure of the cluster that is measured. The goals are the embedded cluster's.
func (r *Report) add(name, unit string, goal, value float64) {
	if r.backend != embedded {
		goal = 0
	}
	r.Figures = append(r.Figures, Figure{r.backend, name, value, unit, goal})
}

// WriteTable writes the figures for people.
func (r *Report) WriteTable(w io.Writer) error {
	fmt.Fprintf(w, "%s\n\n", &r.Machine)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "cluster\twhat\tvalue\t\tgoal\t\t")
	for _, f := range r.Figures {
		goal, verdict := "", ""
		if f.Goal != 0 {
			goal, verdict = "≤ "+figures.Number(f.Goal), "missed"
			if f.Value <= f.Goal {
				verdict = "reached"
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t\n", f.Backend, f.Name, figures.Number(f.Value), f.Unit, goal, verdict)
	}
	return table.Flush()
}

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}
