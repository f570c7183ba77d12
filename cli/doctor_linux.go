package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	memoryNeeded = 300 << 20 // one cluster and the server
	memoryWanted = 600 << 20 // with what a first start takes for a moment
	memoryEach   = 150 << 20 // one more learner who works, with their shells
)

func examineMemory(learners int) finding {
	free, err := availableMemory()
	if err != nil {
		return finding{warning, err.Error(), ""}
	}
	says := byteCount(free) + " available"
	switch {
	case free < memoryNeeded:
		return finding{bad, says, fmt.Sprintf("end some programs: a cluster and apilab take %s", byteCount(memoryNeeded))}
	case free < memoryWanted:
		return finding{warning, says, fmt.Sprintf("%s make the first start comfortable", byteCount(memoryWanted))}
	}
	if class := memoryWanted + uint64(max(0, learners-1))*memoryEach; free < class {
		return finding{warning, says, fmt.Sprintf("%d learners who all work at the same time take %s; with less, whoever comes late waits for a cluster that idles", learners, byteCount(class))}
	}
	return finding{grade: good, says: says}
}

// availableMemory is what the machine, or the control group that this process is in, has left.
func availableMemory() (uint64, error) {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	var free uint64
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), "MemAvailable:"); found {
			kib, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read /proc/meminfo: %w", err)
			}
			free = kib << 10
		}
	}
	limit, used := groupValue("memory.max"), groupValue("memory.current")
	if limit != 0 && limit > used {
		free = min(free, limit-used)
	}
	return free, nil
}

// groupValue reads a file of the control group as containers see it; 0 where there is none or no limit.
func groupValue(name string) uint64 {
	data, err := os.ReadFile("/sys/fs/cgroup/" + name)
	if err != nil {
		return 0
	}
	value, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return 0
	}
	return value
}

// landlockVersion is a flag of landlock_create_ruleset(2): return the version instead.
const landlockVersion = 1

func examineSandbox(context.Context) finding {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, landlockVersion)
	switch {
	case errno == 0:
		return finding{grade: good, says: fmt.Sprintf("closed by construction, and by Landlock (version %d)", version)}
	case errors.Is(errno, unix.EOPNOTSUPP), errors.Is(errno, unix.ENOSYS):
		return finding{warning, "closed by construction; the kernel has no Landlock to close it a second time",
			"nothing for a single learner; for a class, a kernel from 5.13 on with Landlock enabled"}
	default:
		return finding{warning, "closed by construction; Landlock: " + errno.Error(), ""}
	}
}
