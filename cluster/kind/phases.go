package kind

import (
	"strings"
	"time"

	"github.com/apilab/apilab/cluster"
)

// steps are kind's, by how it announces each, and what they are to the learner when they are done.
var steps = []struct{ begins, name, says string }{
	{"Ensuring node image", "image", "The node image is there"},
	{"Preparing nodes", "containers", "The nodes' containers run"},
	{"Writing configuration", "config", "kubeadm is configured"},
	{"Starting control-plane", "control-plane", "kubeadm has started the control plane"},
	{"Installing CNI", "network", "The pod network is installed"},
	{"Installing StorageClass", "storage", "The storage class is installed"},
	{"Joining worker nodes", "workers", "The workers have joined"},
}

// Our own steps, around kind's.
var (
	stepArchive   = [2]string{"archive", "The node image is loaded from its archive"}
	stepStart     = [2]string{"containers", "The nodes' containers run"}
	stepServer    = [2]string{"apiserver", "The API server answers"}
	stepBootstrap = [2]string{"bootstrap", "Roles and default objects are in place"}
	stepNodes     = [2]string{"nodes", "The nodes are Ready"}
	stepImages    = [2]string{"images", "The images of the exercises are on the nodes"}
)

// stepOf turns kind's announcement into a step. One that we do not know is shown as kind says it.
func stepOf(announced string) [2]string {
	for _, s := range steps {
		if strings.HasPrefix(announced, s.begins) {
			return [2]string{s.name, s.says}
		}
	}
	// kind ends its lines with a pictogram.
	plain := strings.TrimSpace(strings.Map(func(r rune) rune {
		if r >= 0x2190 {
			return -1
		}
		return r
	}, announced))
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		default:
			return '-'
		}
	}, strings.ToLower(plain))
	return [2]string{strings.Trim(name, "-"), plain}
}

// A journal tells of the steps of a start, one after another.
type journal struct {
	tell  func(cluster.Phase)
	start time.Time
	step  [2]string // under way
}

func newJournal(tell func(cluster.Phase)) *journal { return &journal{tell: tell, start: time.Now()} }

// begin begins a step, and ends the one before.
func (j *journal) begin(step [2]string) {
	if step == j.step {
		return
	}
	j.done()
	j.step = step
	j.tell(cluster.Phase{Name: step[0], Says: step[1]})
}

// done ends the step under way.
func (j *journal) done() {
	if j.step != [2]string{} {
		j.tell(cluster.Phase{Name: j.step[0], Says: j.step[1], Elapsed: time.Since(j.start).Round(time.Millisecond), Done: true})
		j.step = [2]string{}
	}
}
