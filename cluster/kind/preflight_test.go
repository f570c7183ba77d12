package kind

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeHost is a machine on which all is well, unless a test says otherwise.
type fakeHost struct {
	says     string // what the engine says of itself, JSON
	fails    error
	sysctls  map[string]uint64
	used     bool   // no inotify instance is left
	free     uint64 // memory and disk
	files    uint64
	env      map[string]string
	images   map[string]string // version by name
	offline  error
	existing []node
}

const podmanInfo = `{"host": {"cgroupVersion": "v2", "cgroupControllers": ["cpu", "memory", "pids"], "security": {"rootless": false}},
	"store": {"graphRoot": "/var/lib/containers"}, "version": {"Version": "4.3.1"}}`

func wellHost() *fakeHost {
	return &fakeHost{
		says: podmanInfo, free: 100 << 30, files: 1 << 20, env: map[string]string{},
		sysctls: map[string]uint64{"fs.inotify.max_user_instances": 8192, "fs.inotify.max_user_watches": 1 << 20},
		images:  map[string]string{DefaultImage: "v1.37.0"},
	}
}

func (h *fakeHost) info(context.Context) (info engineInfo, err error) {
	if h.fails == nil {
		err = json.Unmarshal([]byte(h.says), &info)
	}
	return info, errors.Join(h.fails, err)
}
func (h *fakeHost) sysctl(name string) (uint64, bool)        { v, known := h.sysctls[name]; return v, known }
func (h *fakeHost) spareInotify(int) bool                    { return !h.used }
func (h *fakeHost) rootful() bool                            { return true }
func (h *fakeHost) memory() (uint64, bool)                   { return h.free, true }
func (h *fakeHost) disk(string) (uint64, bool)               { return h.free, true }
func (h *fakeHost) openFiles() uint64                        { return h.files }
func (h *fakeHost) getenv(name string) string                { return h.env[name] }
func (h *fakeHost) has(_ context.Context, image string) bool { return h.images[image] != "" }
func (h *fakeHost) registry(context.Context, string) error   { return h.offline }
func (h *fakeHost) file(path string) error                   { _, err := os.Stat(path); return err }
func (h *fakeHost) clusters(context.Context) ([]node, error) { return h.existing, nil }
func (h *fakeHost) imageVersion(_ context.Context, image string) (string, error) {
	return h.images[image], nil
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	strange := node{Name: "apilab-ada-control-plane"}
	for _, c := range []struct {
		name   string
		change func(*fakeHost, *Options)
		check  string // the one that finds something; none if ""
		grade  Grade
		says   string
		fix    string
	}{
		{"all well", func(*fakeHost, *Options) {}, "", Good, "", ""},
		{"no daemon", func(h *fakeHost, _ *Options) { h.fails = errors.New("Cannot connect to the daemon") }, "engine", Bad, "Cannot connect", "systemctl start podman"},
		{"not allowed", func(h *fakeHost, _ *Options) { h.fails = errors.New("permission denied") }, "engine", Bad, "permission denied", "usermod"},
		{"hangs", func(h *fakeHost, _ *Options) { h.fails = &SilentError{"podman", time.Second} }, "engine", Bad, "does not answer", "restart the engine"},
		{"elsewhere", func(h *fakeHost, _ *Options) { h.env["DOCKER_HOST"] = "ssh://build@example.com" }, "engine", Bad, "another machine", "unset DOCKER_HOST"},
		{"local socket", func(h *fakeHost, _ *Options) { h.env["DOCKER_HOST"] = "unix:///run/user/1/docker.sock" }, "", Good, "", ""},
		{"v1", func(h *fakeHost, _ *Options) { h.says = strings.Replace(h.says, "v2", "v1", 1) }, "engine", Warning, "version 1", "version 2"},
		{"rootless v1", func(h *fakeHost, _ *Options) {
			h.says = strings.Replace(strings.Replace(h.says, "v2", "v1", 1), "false", "true", 1)
		}, "engine", Bad, "rootless", "systemd.unified_cgroup_hierarchy=1"},
		{"rootless without delegation", func(h *fakeHost, _ *Options) {
			h.says = strings.Replace(strings.Replace(h.says, `"cpu", `, "", 1), "false", "true", 1)
		}, "engine", Bad, "may not limit", "Delegate=yes"},
		{"docker, rootless without delegation", func(h *fakeHost, _ *Options) {
			h.says = `{"ServerVersion": "29.1", "CgroupVersion": "2", "SecurityOptions": ["name=seccomp", "name=rootless"], "CPUShares": false}`
		}, "engine", Bad, "may not limit", "Delegate=yes"},
		{"few instances", func(h *fakeHost, _ *Options) { h.sysctls["fs.inotify.max_user_instances"] = 128 }, "inotify", Warning, "= 128", "sysctl -w fs.inotify.max_user_instances=640"},
		{"no instances left", func(h *fakeHost, _ *Options) { h.used = true }, "inotify", Bad, "fewer than the 32", "sysctl -w fs.inotify.max_user_instances=32768"},
		{"no watches", func(h *fakeHost, _ *Options) { h.sysctls["fs.inotify.max_user_watches"] = 100 }, "inotify", Bad, "= 100", "sysctl -w fs.inotify.max_user_watches="},
		{"few files", func(h *fakeHost, _ *Options) { h.files = 1024 }, "open files", Bad, "1024", "ulimit -Hn"},
		{"proxy on loopback", func(h *fakeHost, _ *Options) { h.env["https_proxy"] = "localhost:3128" }, "proxy", Warning, "localhost:3128", "containers reach"},
		{"a version of old", func(h *fakeHost, _ *Options) { h.images[DefaultImage] = "v1.31.0" }, "node image", Bad, "v1.31.0", "--kind-image"},
		{"no network", func(h *fakeHost, _ *Options) { h.images, h.offline = nil, errors.New("no route to host") }, "node image", Bad, "no route to host", "--kind-image-archive"},
		{"no archive", func(h *fakeHost, o *Options) { h.images, o.ImageArchive = nil, "/does/not/exist.tar" }, "node image", Bad, "/does/not/exist.tar", "docker save"},
		{"others' nodes", func(h *fakeHost, _ *Options) { h.existing = []node{strange} }, "names", Warning, strange.Name, "podman rm --force --volumes " + strange.Name},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h, o := wellHost(), Options{Engine: "podman", Dir: "/data/kind", Kubernetes: "v1.37.2"}
			c.change(h, &o)
			var found []Finding
			for _, f := range preflight(t.Context(), h, o, 10) {
				if f.Grade != Good {
					found = append(found, f)
				}
			}
			if c.check == "" {
				if len(found) > 0 {
					t.Errorf("found %+v", found)
				}
				return
			}
			if len(found) != 1 || found[0].Check != c.check || found[0].Grade != c.grade ||
				!strings.Contains(found[0].Says, c.says) || !strings.Contains(found[0].Fix, c.fix) || strings.Contains(found[0].Says+found[0].Fix, "\n") {
				t.Errorf("found %+v", found)
			}
		})
	}
}

func TestRoomForMore(t *testing.T) {
	t.Parallel()
	for free, want := range map[uint64]string{10 << 20: "are needed", 3 << 30: "are wanted for that many", 100 << 30: ""} {
		h := wellHost()
		h.free = free
		for _, f := range preflight(t.Context(), h, Options{Engine: "podman"}, 10) {
			if limited := f.Check == "memory" || f.Check == "disk of the engine"; limited && (f.Fix == "") != (want == "") || limited && !strings.Contains(f.Fix, want) {
				t.Errorf("%d bytes free: %+v", free, f)
			}
		}
		if err := fit(t.Context(), h, "podman"); (err != nil) != (free < 1<<30) {
			t.Errorf("%d bytes free, and one more cluster: %v", free, err)
		}
	}
}

// script is an engine that does what a shell script says.
func script(t *testing.T, text string) Engine {
	t.Helper()
	path := filepath.Join(t.TempDir(), "engine")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return Engine(path)
}

func TestAnEngineThatHangs(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	_, err := script(t, "sleep 60 & sleep 60").run(t.Context(), 50*time.Millisecond, "ps")
	var silent *SilentError
	if !errors.As(err, &silent) || !strings.Contains(err.Error(), "did not answer within 50ms") || time.Since(begin) > 10*time.Second {
		t.Errorf("after %s: %v", time.Since(begin), err)
	}
}

func TestAnEngineThatFails(t *testing.T) {
	t.Parallel()
	_, err := script(t, "echo Cannot connect to the Docker daemon >&2; exit 1").run(t.Context(), time.Minute, "ps", "-a")
	var failed *EngineError
	if !errors.As(err, &failed) || !strings.HasSuffix(err.Error(), "engine ps: Cannot connect to the Docker daemon") {
		t.Error(err)
	}
}
