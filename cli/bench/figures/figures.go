// Package figures is what measurements are written with: samples and their quantiles, numbers as people read them, and the
// machine that they are of.
package figures

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A Machine says how large the machine is.
type Machine struct {
	System      string `json:"system"` // "linux/amd64"
	CPUs        int    `json:"cpus"`
	CPU         string `json:"cpu,omitempty"`
	MemoryBytes uint64 `json:"memoryBytes,omitempty"`
}

// ThisMachine looks at the machine that the program runs on.
func ThisMachine() Machine {
	m := Machine{System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU()}
	m.look()
	return m
}

func (m *Machine) String() string {
	var details []string
	if m.CPU != "" {
		details = append(details, m.CPU)
	}
	if m.MemoryBytes > 0 {
		details = append(details, fmt.Sprintf("%.0f GiB of memory", float64(m.MemoryBytes)/(1<<30)))
	}
	text := fmt.Sprintf("%s, %d CPUs", m.System, m.CPUs)
	if details != nil {
		text += " (" + strings.Join(details, ", ") + ")"
	}
	return text
}

// Number has three significant digits.
func Number(x float64) string {
	switch {
	case x >= 100 || x == math.Trunc(x):
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.2f", x)
	}
}

// Milliseconds is a time in that unit.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Samples are values of one kind.
type Samples []float64

// Add notes one more.
func (s *Samples) Add(x float64) { *s = append(*s, x) }

// Quantile is the value that the part q of all does not exceed (nearest rank); 0 where there are none.
func (s Samples) Quantile(q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}
