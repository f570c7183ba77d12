package kind

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0: "control-plane",
		1: "control-plane",
		3: "control-plane worker worker",
	} {
		c := plan("ada", n, "image", "/data/kind/ada")
		var roles []string
		for _, node := range c.Nodes {
			roles = append(roles, string(node.Role))
			if len(node.ExtraMounts) != 1 || node.ExtraMounts[0] != (v1alpha4.Mount{HostPath: "/data/kind/ada/node", ContainerPath: "/apilab", Readonly: true}) {
				t.Errorf("mounts of a node: %+v", node.ExtraMounts)
			}
			if node.Image != "image" {
				t.Errorf("image %q", node.Image)
			}
		}
		if got := strings.Join(roles, " "); got != want || c.Name != "apilab-ada" || c.Networking.APIServerAddress != "127.0.0.1" {
			t.Errorf("%d nodes: %s, named %s at %s", n, got, c.Name, c.Networking.APIServerAddress)
		}
	}
}

func TestNodeNames(t *testing.T) {
	t.Parallel()
	want := []string{"apilab-ada-control-plane", "apilab-ada-worker", "apilab-ada-worker2", "apilab-ada-worker3"}
	if got := nodeNames("ada", 4); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	longest := nodeNames(strings.Repeat("a", 40), 1)[0]
	if len(longest) > 63 {
		t.Errorf("%s is too long for a host's name", longest)
	}
}

// inspected is what docker and podman say of a container, as far as we read it.
const inspected = `[
	{"Id": "b2", "Name": "/apilab-ada-worker", "State": {"Status": "exited", "Running": false, "Pid": 0},
	 "Config": {"Labels": {"io.x-k8s.kind.cluster": "apilab-ada", "io.x-k8s.kind.role": "worker"}},
	 "Mounts": [{"Type": "bind", "Source": "/host_mnt/data/kind/ada/node", "Destination": "/apilab"}]},
	{"Id": "a1", "Name": "apilab-ada-control-plane", "State": {"Status": "running", "Running": true, "Pid": 7},
	 "Config": {"Labels": {"io.x-k8s.kind.cluster": "apilab-ada", "io.x-k8s.kind.role": "control-plane"}},
	 "Mounts": [{"Source": "/lib/modules", "Destination": "/lib/modules"}, {"Source": "/data/kind/ada/node", "Destination": "/apilab"}]},
	{"Id": "c3", "Name": "theirs", "State": {"Status": "running", "Running": true},
	 "Config": {"Labels": {"io.x-k8s.kind.cluster": "apilab-ada"}}, "Mounts": []},
	{"Id": "d4", "Name": "z-another-server", "Mounts": [{"Source": "/elsewhere/data/kind/ada/node", "Destination": "/apilab"}]}
]`

func TestNodesAndWhoseTheyAre(t *testing.T) {
	t.Parallel()
	nodes, err := parseNodes(inspected)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range nodes {
		got = append(got, fmt.Sprintf("%s %t", n.Name, n.ours("/data/kind/ada")))
	}
	want := []string{"apilab-ada-control-plane true", "apilab-ada-worker true", "theirs false", "z-another-server false"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if _, err := parseNodes("Error: no such container"); err == nil {
		t.Error("what is no list was read")
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	for announced, want := range map[string]string{
		"Ensuring node image (kindest/node:v1.37.0) 🖼️": "image: The node image is there",
		"Preparing nodes 📦 📦":                           "containers: The nodes' containers run",
		"Starting control-plane 🕹️":                     "control-plane: kubeadm has started the control plane",
		"Feeding the penguins 🐧":                        "feeding-the-penguins: Feeding the penguins",
	} {
		if got := stepOf(announced); got[0]+": "+got[1] != want {
			t.Errorf("%q is %q", announced, got)
		}
	}
}

func TestEngineErrors(t *testing.T) {
	t.Parallel()
	kubeadm := strings.Repeat("I1130 15:00:00 some.go:1] nothing of interest\n", 500) +
		"[preflight] Some fatal errors occurred:\n\t[ERROR Port-6443]: Port 6443 is in use\nto see the stack trace of this error execute with --v=5\n"
	for _, c := range []struct {
		name, output string
		args         []string
		want         string
	}{
		{"podman", "Error: short-name resolution failed\n", []string{"run", "--name", "x"}, "podman run: Error: short-name resolution failed"},
		{"kubeadm", kubeadm, commandName([]string{"exec", "--privileged", "x", "kubeadm", "init"}), "podman exec kubeadm init: [ERROR Port-6443]: Port 6443 is in use"},
		{"disk", "write /var/lib: no space left on device", []string{"run"}, ErrDiskFull.Error() + ": podman run: write /var/lib: no space left on device"},
		{"silent", "", []string{"rm"}, "podman rm: exit status 125"},
	} {
		if got := newEngineError("podman", c.args, c.output, fmt.Errorf("exit status 125")).Error(); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestImageNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		engine      Engine
		image, want string
	}{
		{"docker", "kindest/node:v1.37.0@sha256:a1", "kindest/node:v1.37.0@sha256:a1"},
		{"podman", "kindest/node:v1.37.0@sha256:a1", "docker.io/kindest/node@sha256:a1"},
		{"podman", "localhost/kindlab/node:v1", "localhost/kindlab/node:v1"},
		{"podman", "registry.example.com:5000/node:v1@sha256:b2", "registry.example.com:5000/node@sha256:b2"},
		{"podman", "busybox:1", "docker.io/library/busybox:1"},
	} {
		if got := c.engine.ref(c.image); got != c.want {
			t.Errorf("%s calls %s %s, want %s", c.engine, c.image, got, c.want)
		}
	}
	for out, want := range map[string]string{
		"Loaded image: kindest/node:v1.37.0\n":                           "kindest/node:v1.37.0",
		"Loaded image(s): localhost/node:1\n":                            "localhost/node:1",
		"unpacking docker.io/kindest/node:v1 (sha256:aa)...done\n":       "docker.io/kindest/node:v1",
		"Getting image source signatures\nLoaded image: localhost/n:1\n": "localhost/n:1",
	} {
		if found := loadedImage.FindStringSubmatch(out); found == nil || found[1] != want {
			t.Errorf("%q: %v", out, found)
		}
	}
}

func TestVersionOfTheImage(t *testing.T) {
	t.Parallel()
	for has, want := range map[string]string{
		"v1.37.0": "",
		"v1.37.9": "",
		"v1.31.4": "such as kindest/node:v1.37.2",
		"v2.37.0": "such as kindest/node:v1.37.2",
		"banana":  `says that its version is "banana"`,
	} {
		err := sameMinor("node", has, "v1.37.2")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", has, err)
		}
	}
}
