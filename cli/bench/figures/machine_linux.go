package figures

import (
	"bufio"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// look fills in what the system tells; what it does not stays empty.
func (m *Machine) look() {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		m.MemoryBytes = uint64(info.Totalram) * uint64(info.Unit) //nolint:unconvert // 32 bits on some systems
	}
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(key) == "model name" {
			m.CPU = strings.TrimSpace(value)
			return
		}
	}
}
