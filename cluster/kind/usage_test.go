package kind

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/apilab/apilab/cluster"
)

func TestGroupUsage(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, c := range map[string]struct {
		of     string
		groups fstest.MapFS
	}{
		"version 2": {
			"0::/machine.slice/libpod-cafe.scope/container/init.scope\n",
			fstest.MapFS{
				"machine.slice/libpod-cafe.scope/memory.current": file("500\n"),
				"machine.slice/libpod-cafe.scope/memory.stat":    file("anon 300\ninactive_file 100\n"),
				"machine.slice/libpod-cafe.scope/cpu.stat":       file("usage_usec 2000000\nuser_usec 1\n"),
			},
		},
		"version 1": {
			"12:cpu,cpuacct:/docker/cafe/init.scope\n11:memory:/docker/cafe/init.scope\n1:name=systemd:/docker/cafe\n0::/docker/cafe\n",
			fstest.MapFS{
				"memory/docker/cafe/memory.usage_in_bytes": file("500\n"),
				"memory/docker/cafe/memory.stat":           file("cache 1\ntotal_inactive_file 100\n"),
				"cpuacct/docker/cafe/cpuacct.usage":        file("2000000000\n"),
			},
		},
	} {
		got, err := groupUsage(c.groups, c.of, "cafe")
		if err != nil || got != (cluster.Usage{PrivateBytes: 400, PSSBytes: 400, CPU: 2 * time.Second}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
