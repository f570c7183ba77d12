package kind

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A machine is the host that we are on, with its engine.
type machine struct{ Engine }

func (m machine) info(ctx context.Context) (engineInfo, error) {
	var info engineInfo
	out, err := m.run(ctx, quick, "info", "--format", "{{json .}}")
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal([]byte(out), &info); err != nil {
		return info, fmt.Errorf("read what %s says of itself: %w", m.Engine, err)
	}
	return info, nil
}

func (m machine) sysctl(name string) (uint64, bool) {
	text, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(name, ".", "/"))
	if err != nil {
		return 0, false
	}
	value, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return value, err == nil
}

func (m machine) memory() (uint64, bool) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), "MemAvailable:"); found {
			kib, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}

// disk is not known where the engine has a file system of its own, as in a virtual machine.
func (m machine) disk(path string) (uint64, bool) {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); path == "" || err != nil {
		return 0, false
	}
	return uint64(fs.Bavail) * uint64(fs.Bsize), true
}

func (m machine) openFiles() uint64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return enoughFiles
	}
	return uint64(limit.Max)
}

func (m machine) rootful() bool { return os.Geteuid() == 0 }

func (m machine) getenv(name string) string { return os.Getenv(name) }

func (m machine) file(path string) error {
	f, err := os.Open(path)
	if err == nil {
		f.Close()
	}
	return err
}

func (m machine) clusters(ctx context.Context) ([]node, error) { return m.nodes(ctx, "") }

// registry asks for the registry's version, which even one that wants credentials answers.
func (m machine) registry(ctx context.Context, image string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	address, _, _ := strings.Cut(Engine("podman").ref(image), "/")
	if address == "docker.io" {
		address = "registry-1.docker.io"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/v2/", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
