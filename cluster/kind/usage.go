package kind

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/apilab/apilab/cluster"
)

// Usage implements cluster.Cluster: the working set of the nodes' control groups, as the kubelet counts it. There is none to
// be read where the engine runs in a virtual machine.
func (i *instance) Usage(ctx context.Context) (cluster.Usage, error) {
	nodes, err := i.nodes(ctx)
	if err != nil {
		return cluster.Usage{}, err
	}
	var total cluster.Usage
	for _, n := range nodes {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", n.State.Pid))
		if err != nil {
			return cluster.Usage{}, fmt.Errorf("find the control group of %s: %w", n.Name, err)
		}
		used, err := groupUsage(os.DirFS("/sys/fs/cgroup"), string(text), n.ID)
		if err != nil {
			return cluster.Usage{}, fmt.Errorf("read the control group of %s: %w", n.Name, err)
		}
		total.PrivateBytes += used.PrivateBytes
		total.PSSBytes += used.PSSBytes
		total.CPU += used.CPU
	}
	return total, nil
}

// groupUsage reads what the control group of a container has used. groups are the hierarchies, and of is the file
// /proc/PID/cgroup of its first process, which may be in a group below.
func groupUsage(groups fs.FS, of, container string) (cluster.Usage, error) {
	paths := map[string]string{} // by controller, "" for version 2
	for line := range strings.Lines(of) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			paths[controller] = containerGroup(parts[2], container)
		}
	}
	var usage, reclaimable, cpu uint64
	var errs [3]error
	if memory, v1 := paths["memory"]; v1 {
		usage, errs[0] = number(groups, path.Join("memory", memory, "memory.usage_in_bytes"), "")
		reclaimable, errs[1] = number(groups, path.Join("memory", memory, "memory.stat"), "total_inactive_file")
		cpu, errs[2] = number(groups, path.Join("cpuacct", paths["cpuacct"], "cpuacct.usage"), "")
	} else {
		group := strings.TrimPrefix(paths[""], "/")
		usage, errs[0] = number(groups, path.Join(group, "memory.current"), "")
		reclaimable, errs[1] = number(groups, path.Join(group, "memory.stat"), "inactive_file")
		cpu, errs[2] = number(groups, path.Join(group, "cpu.stat"), "usage_usec")
		cpu *= uint64(time.Microsecond)
	}
	if err := errors.Join(errs[:]...); err != nil {
		return cluster.Usage{}, err
	}
	working := int64(usage - min(usage, reclaimable))
	return cluster.Usage{PrivateBytes: working, PSSBytes: working, CPU: time.Duration(cpu)}, nil
}

// containerGroup cuts a path after the element that is the container's own.
func containerGroup(group, container string) string {
	elements := strings.Split(group, "/")
	for n, element := range elements {
		if strings.Contains(element, container) {
			return strings.Join(elements[:n+1], "/")
		}
	}
	return group
}

// number reads a file that is one number, or the line of a key in a file of many.
func number(files fs.FS, name, key string) (uint64, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if key != "" {
			value, found := strings.CutPrefix(line, key+" ")
			if !found {
				continue
			}
			line = value
		}
		return strconv.ParseUint(line, 10, 64)
	}
	return 0, fmt.Errorf("%s has no %s", name, key)
}
