package process

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of CPU times in /proc: USER_HZ is 100 on every architecture that Go runs on.
const clockTick = 10 * time.Millisecond

// UsageOf reads the usage of a process from /proc/PID/smaps_rollup and /proc/PID/stat (proc(5)).
func UsageOf(pid int) (Usage, error) {
	var u Usage
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return u, err
	}
	lines := bufio.NewScanner(bytes.NewReader(rollup))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 || fields[2] != "kB" {
			continue
		}
		kb, _ := strconv.ParseInt(fields[1], 10, 64)
		switch fields[0] {
		case "Pss:":
			u.Proportional = kb << 10
		case "Anonymous:":
			u.Anonymous = kb << 10
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, err
	}
	// The second field is the program's name in parentheses, which may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const utime, stime = 14 - 3, 15 - 3
	if len(fields) <= stime {
		return u, fmt.Errorf("/proc/%d/stat is too short", pid)
	}
	user, _ := strconv.ParseInt(fields[utime], 10, 64)
	system, _ := strconv.ParseInt(fields[stime], 10, 64)
	u.CPU = time.Duration(user+system) * clockTick
	return u, nil
}
