package kind

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// A Finding is what one look at the machine came to.
type Finding struct {
	Check string
	Grade Grade
	Says  string
	Fix   string // what to do about it, unless it is good
}

// A Grade says how bad a finding is.
type Grade int

// The grades.
const (
	Good    Grade = iota
	Warning       // clusters work, with a limit
	Bad           // they do not
)

// What a node takes. Measured on one that idles and one whose learner works; kind asks for the same orders of magnitude.
const (
	nodeMemory    = 700 << 20 // bytes
	leastMemory   = 500 << 20
	nodeDisk      = 1 << 30
	imageDisk     = 2 << 30 // until it is unpacked
	nodeInstances = 32      // of inotify
	nodeWatches   = 8192
	othersInotify = 2 // as much again for the user's other programs
	leastFiles    = 4096
	enoughFiles   = 65536
)

// A host is what Preflight asks; a fake one in its tests.
type host interface {
	info(context.Context) (engineInfo, error)
	sysctl(name string) (value uint64, known bool)
	spareInotify(instances int) bool // that this user has them left
	rootful() bool                   // we are root, as the nodes of an engine that is not rootless are
	memory() (available uint64, known bool)
	disk(path string) (free uint64, known bool)
	openFiles() uint64 // that a program started here may have
	getenv(name string) string
	has(ctx context.Context, image string) bool
	imageVersion(ctx context.Context, image string) (string, error)
	registry(ctx context.Context, image string) error // asks the image's registry for a sign of life
	file(path string) error                           // whether it can be read
	clusters(context.Context) ([]node, error)         // the nodes of all kind clusters
}

// An engineInfo is what docker, nerdctl (on the outside) and podman (in Host and Store) say of themselves.
type engineInfo struct {
	ServerVersion   string
	SecurityOptions []string
	CgroupVersion   string
	DockerRootDir   string
	MemoryLimit     *bool
	PidsLimit       *bool
	CPUShares       *bool
	Host            struct {
		CgroupVersion     string
		CgroupControllers []string
		Security          struct{ Rootless bool }
	}
	Store   struct{ GraphRoot string }
	Version struct{ Version string }
}

func (i engineInfo) rootless() bool {
	for _, o := range i.SecurityOptions {
		if strings.Contains(o, "rootless") {
			return true
		}
	}
	return i.Host.Security.Rootless
}

func (i engineInfo) cgroup2() bool {
	return strings.TrimPrefix(i.CgroupVersion+i.Host.CgroupVersion, "v") == "2"
}

// delegated tells whether a rootless engine may limit what its containers take.
func (i engineInfo) delegated() bool {
	for _, may := range []*bool{i.MemoryLimit, i.PidsLimit, i.CPUShares} {
		if may != nil && !*may {
			return false
		}
	}
	if i.Host.CgroupVersion == "" {
		return true
	}
	has := " " + strings.Join(i.Host.CgroupControllers, " ") + " "
	return strings.Contains(has, " memory ") && strings.Contains(has, " pids ") && strings.Contains(has, " cpu ")
}

func (i engineInfo) version() string { return i.ServerVersion + i.Version.Version }

func (i engineInfo) root() string { return i.DockerRootDir + i.Store.GraphRoot }

// Preflight looks at whether this machine can have clusters for so many learners at a time.
func Preflight(ctx context.Context, o Options, learners int) []Finding {
	return preflight(ctx, machine{o.Engine}, o, learners)
}

func preflight(ctx context.Context, h host, o Options, learners int) []Finding {
	info, engine := examineEngine(ctx, h, o.Engine)
	if engine.Grade == Bad {
		return []Finding{engine}
	}
	found := append([]Finding{engine}, examineMachine(h, info, learners, h.has(ctx, o.image()))...)
	return append(found, examineProxy(h), examineImage(ctx, h, o), examineNames(ctx, h, o))
}

// fit says what keeps the machine from having one more cluster, if anything does.
func fit(ctx context.Context, h host, e Engine) error {
	info, engine := examineEngine(ctx, h, e)
	found := []Finding{engine}
	if engine.Grade != Bad {
		found = append(found, examineMachine(h, info, 1, true)...)
	}
	for _, f := range found {
		if f.Grade == Bad {
			return fmt.Errorf("%s: %s: %s", f.Check, f.Says, f.Fix)
		}
	}
	return nil
}

func examineEngine(ctx context.Context, h host, e Engine) (engineInfo, Finding) {
	f := Finding{Check: "engine"}
	info, err := h.info(ctx)
	var silent *SilentError
	switch {
	case errors.As(err, &silent):
		f.Grade, f.Says, f.Fix = Bad, fmt.Sprintf("%s does not answer", e), fmt.Sprintf("see whether `%s ps` works, and restart the engine if it does not", e)
	case err != nil:
		f.Grade, f.Says, f.Fix = Bad, oneLine(err), mend(e, err)
	case remote(h):
		f.Grade, f.Says = Bad, fmt.Sprintf("%s runs on another machine", e)
		f.Fix = "use an engine on this one: unset DOCKER_HOST or CONTAINER_HOST, or choose another engine with " + chosenBy
	case info.rootless() && !info.cgroup2():
		f.Grade, f.Says = Bad, fmt.Sprintf("%s %s is rootless and has control groups of version 1", e, info.version())
		f.Fix = "rootless kind needs version 2: boot Linux with systemd.unified_cgroup_hierarchy=1, or run the engine as root"
	case info.rootless() && !info.delegated():
		f.Grade, f.Says = Bad, fmt.Sprintf("%s %s is rootless and may not limit memory, CPU and processes", e, info.version())
		f.Fix = "let systemd delegate them (Delegate=yes, see https://kind.sigs.k8s.io/docs/user/rootless/), or run the engine as root"
	case !info.cgroup2():
		f.Grade, f.Says = Warning, fmt.Sprintf("%s %s, control groups of version 1", e, info.version())
		f.Fix = "kind works with them, and later releases will not: boot Linux with version 2 when you can"
	default:
		f.Says = fmt.Sprintf("%s %s, control groups of version 2", e, info.version())
		if info.rootless() {
			f.Says += ", rootless"
		}
	}
	return info, f
}

// remote tells whether the engine is elsewhere: its ports and folders are then not this machine's.
func remote(h host) bool {
	for _, name := range []string{"DOCKER_HOST", "CONTAINER_HOST"} {
		if u, err := url.Parse(h.getenv(name)); err == nil && u.Scheme != "" && u.Scheme != "unix" && u.Scheme != "npipe" && !loopback(u.Hostname()) {
			return true
		}
	}
	return false
}

// mend says what to do about an engine that does not work.
func mend(e Engine, err error) string {
	if said := err.Error(); strings.Contains(said, "permission denied") {
		return fmt.Sprintf("let your user use %s (for docker: `sudo usermod -aG docker $USER`, then sign in again)", e)
	}
	return fmt.Sprintf("start it (`systemctl start %s`, or its desktop program), or choose another engine with %s", e, chosenBy)
}

// examineMachine looks at what a node takes from the kernel, times the learners.
func examineMachine(h host, info engineInfo, learners int, haveImage bool) []Finding {
	n := uint64(max(1, learners))
	found := []Finding{
		examineInstances(h, info, n),
		examineInotify(h, "fs.inotify.max_user_watches", n*nodeWatches*othersInotify, nodeWatches),
	}
	files := Finding{Check: "open files", Says: fmt.Sprintf("%d allowed", h.openFiles())}
	if allowed := h.openFiles(); allowed < leastFiles {
		files.Grade, files.Fix = Bad, fmt.Sprintf("raise the limit: `ulimit -Hn %d` before you start apilab", enoughFiles)
	} else if allowed < enoughFiles {
		files.Grade, files.Fix = Warning, fmt.Sprintf("pods that open many files want `ulimit -Hn %d` before you start apilab", enoughFiles)
	}
	found = append(found, files)
	if free, known := h.memory(); known {
		found = append(found, enough("memory", free, n*nodeMemory, leastMemory, "end some programs"))
	}
	want, least := n*nodeDisk, uint64(nodeDisk/2)
	if !haveImage {
		want, least = want+imageDisk, least+imageDisk
	}
	if free, known := h.disk(info.root()); known {
		found = append(found, enough("disk of the engine", free, want, least, fmt.Sprintf("free some space under %s", info.root())))
	}
	return found
}

// enough compares what is free with what is wanted and what is needed at least.
func enough(check string, free, want, least uint64, fix string) Finding {
	f := Finding{Check: check, Says: gigabytes(free) + " free"}
	switch {
	case free < least:
		f.Grade, f.Fix = Bad, fmt.Sprintf("%s: %s are needed", fix, gigabytes(least))
	case free < want:
		f.Grade, f.Fix = Warning, fmt.Sprintf("%s: %s are wanted for that many learners", fix, gigabytes(want))
	}
	return f
}

func examineInotify(h host, name string, want, least uint64) Finding {
	f := Finding{Check: "inotify"}
	value, known := h.sysctl(name)
	if !known {
		f.Says = name + " is not known here"
		return f
	}
	f.Says = fmt.Sprintf("%s = %d", name, value)
	switch {
	case value < least:
		f.Grade, f.Fix = Bad, raise(name, want)
	case value < want:
		f.Grade, f.Fix = Warning, "may be too few for that many learners: "+raise(name, want)
	}
	return f
}

// examineInstances looks at what usually runs out first. How many are left can be told of our own user alone.
func examineInstances(h host, info engineInfo, learners uint64) Finding {
	const name = "fs.inotify.max_user_instances"
	want := learners * nodeInstances * othersInotify
	f := examineInotify(h, name, want, nodeInstances)
	if (info.rootless() || h.rootful()) && f.Grade != Bad && !h.spareInotify(nodeInstances) {
		value, _ := h.sysctl(name)
		f.Grade, f.Says = Bad, fmt.Sprintf("%s, of which fewer than the %d that a node takes are left", f.Says, nodeInstances)
		f.Fix = raise(name, max(want, 4*value))
	}
	return f
}

func raise(sysctl string, to uint64) string {
	return fmt.Sprintf("`sudo sysctl -w %s=%d`, and the same in /etc/sysctl.d to keep it", sysctl, to)
}

// examineProxy looks at the proxy that kind passes on to the nodes.
func examineProxy(h host) Finding {
	f := Finding{Check: "proxy", Says: "none"}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		value := h.getenv(name)
		if value == "" {
			continue
		}
		f.Says = name + " is set, and the nodes will use it"
		address := value
		if !strings.Contains(address, "://") {
			address = "http://" + address
		}
		if u, err := url.Parse(address); err == nil && loopback(u.Hostname()) {
			f.Grade, f.Says = Warning, name+" is at "+u.Host+", which to a node is the node itself"
			f.Fix = "pods cannot pull images that way: use an address of this machine that containers reach, or unset it"
			return f
		}
	}
	return f
}

// examineImage looks at whether the node image is there, or can be, and of the version of the lessons.
func examineImage(ctx context.Context, h host, o Options) Finding {
	f := Finding{Check: "node image"}
	image := o.image()
	if h.has(ctx, image) {
		has, err := h.imageVersion(ctx, image)
		if err == nil {
			err = sameMinor(image, has, o.Kubernetes)
		}
		if err != nil {
			f.Grade, f.Says, f.Fix = Bad, oneLine(err), "choose another with --kind-image"
			return f
		}
		f.Says = fmt.Sprintf("%s, Kubernetes %s", image, has)
		return f
	}
	if o.ImageArchive != "" {
		f.Says = "will be loaded from " + o.ImageArchive
		if err := h.file(o.ImageArchive); err != nil {
			f.Grade, f.Says, f.Fix = Bad, oneLine(err), "give --kind-image-archive a file that `docker save` made"
		}
		return f
	}
	f.Says = image + " will be pulled when the first cluster is made"
	if err := h.registry(ctx, image); err != nil {
		f.Grade, f.Says = Bad, fmt.Sprintf("%s is not here, and its registry does not answer (%s)", image, oneLine(err))
		f.Fix = "pull it where there is a network, `docker save` it, and say --kind-image-archive FILE"
	}
	return f
}

// examineNames looks for nodes that are called as ours would be. Whose they are is for people to know.
func examineNames(ctx context.Context, h host, o Options) Finding {
	f := Finding{Check: "names", Says: "free"}
	all, err := h.clusters(ctx)
	if err != nil {
		f.Grade, f.Says = Warning, oneLine(err)
		return f
	}
	var others []string
	for _, n := range all {
		if strings.HasPrefix(n.Name, clusterName("")) && !strings.HasPrefix(n.source(), o.Dir+"/") {
			others = append(others, n.Name)
		}
	}
	if len(others) > 0 {
		f.Grade, f.Says = Warning, "there are nodes that another data directory has, or had: "+strings.Join(others, ", ")
		f.Fix = fmt.Sprintf("if nobody needs them: `%s rm --force --volumes %s`", o.Engine, strings.Join(others, " "))
	}
	return f
}

func gigabytes(n uint64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
