package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A Report is what was measured, and on what.
type Report struct {
	Time    time.Time `json:"time"`
	Machine Machine   `json:"machine"`
	Figures []Figure  `json:"figures"`

	backend string // of the cluster that is measured
}

// A Machine says how large the machine is.
type Machine struct {
	System      string `json:"system"` // "linux/amd64"
	CPUs        int    `json:"cpus"`
	CPU         string `json:"cpu,omitempty"`
	MemoryBytes uint64 `json:"memoryBytes,omitempty"`
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
	machine := Machine{System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU()}
	machine.look()
	return &Report{Time: time.Now().UTC().Truncate(time.Second), Machine: machine, backend: embedded}
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
	fmt.Fprintf(w, "%s, %d CPUs%s\n\n", r.Machine.System, r.Machine.CPUs, r.Machine.details())
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "cluster\twhat\tvalue\t\tgoal\t\t")
	for _, f := range r.Figures {
		goal, verdict := "", ""
		if f.Goal != 0 {
			goal, verdict = "≤ "+number(f.Goal), "missed"
			if f.Value <= f.Goal {
				verdict = "reached"
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t\n", f.Backend, f.Name, number(f.Value), f.Unit, goal, verdict)
	}
	return table.Flush()
}

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

func (m Machine) details() string {
	var details []string
	if m.CPU != "" {
		details = append(details, m.CPU)
	}
	if m.MemoryBytes > 0 {
		details = append(details, fmt.Sprintf("%.0f GiB of memory", float64(m.MemoryBytes)/(1<<30)))
	}
	if details == nil {
		return ""
	}
	return " (" + strings.Join(details, ", ") + ")"
}

// number has three significant digits.
func number(x float64) string {
	switch {
	case x >= 100 || x == math.Trunc(x):
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.2f", x)
	}
}

// samples are values of one kind.
type samples []float64

func (s *samples) add(x float64) { *s = append(*s, x) }

// quantile is the value that the part q of all does not exceed (nearest rank); 0 where there are none.
func (s samples) quantile(q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}
