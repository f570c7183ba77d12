package process

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// UsageOf asks ps(1): without cgo, macOS tells neither private nor proportional memory, so both are the resident size.
func UsageOf(pid int) (Usage, error) {
	out, err := exec.Command("/bin/ps", "-o", "rss=,time=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return Usage{}, fmt.Errorf("ps: %w", err)
	}
	fields := strings.Fields(string(out))
	if len(fields) != 2 {
		return Usage{}, fmt.Errorf("ps: unexpected output %q", out)
	}
	kb, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return Usage{}, fmt.Errorf("ps: %w", err)
	}
	return Usage{Anonymous: kb << 10, Proportional: kb << 10, CPU: parseTime(fields[1])}, nil
}

// parseTime reads ps's [[hours:]minutes:]seconds.hundredths.
func parseTime(s string) time.Duration {
	var total float64
	for _, part := range strings.Split(s, ":") {
		n, _ := strconv.ParseFloat(part, 64)
		total = total*60 + n
	}
	return time.Duration(total * float64(time.Second))
}
