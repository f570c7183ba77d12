package gateway

import (
	"fmt"
	"strings"

	"github.com/apilab/apilab/cluster"
)

// An unavailableError says in a sentence for the learner why a request did not reach their API server.
type unavailableError string

func (e unavailableError) Error() string { return string(e) }

const (
	errSilent  = unavailableError("your cluster's API server does not answer; it is being looked after, try again in a few seconds")
	errDropped = unavailableError("the connection to your cluster's API server broke during this request; look whether it was carried out before you repeat it")
	errGone    = unavailableError("the client went away before the answer") // read in the record alone
	errStopped = unavailableError("apilab is stopping; start it again and repeat the request")
)

// notReady turns the state of a cluster into a sentence.
func notReady(status cluster.Status) unavailableError {
	switch status.State {
	case cluster.Failed:
		return unavailableError("your cluster could not be started" + because(status) + "; retry or reset it in the page")
	case cluster.Queued:
		return unavailableError("your cluster waits for its turn to start" + place(status) + because(status) + "; try again in a moment")
	case cluster.Creating, cluster.Starting:
		return unavailableError("your cluster is still starting" + step(status) + "; try again in a few seconds")
	case cluster.Healing:
		return unavailableError("your cluster's control plane stopped and is being restarted with its data" + because(status) + "; try again in a few seconds")
	case cluster.Deleting:
		return "your cluster is being reset; try again in a few seconds"
	case cluster.Frozen:
		return "your cluster is waking up; try again in a moment"
	case cluster.Absent, cluster.Stopped:
		return "your cluster is not running; start it in the page"
	default: // it became ready just after the wait was over
		return "your cluster was not ready in time; try again"
	}
}

// because is the first line of the reason: the lines after it are a log.
func because(status cluster.Status) string {
	reason, _, _ := strings.Cut(strings.TrimSpace(status.Reason), "\n")
	if reason == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", reason)
}

// place is where it stands in the queue.
func place(status cluster.Status) string {
	if status.Position == 0 {
		return ""
	}
	return fmt.Sprintf(" as number %d", status.Position)
}

func step(status cluster.Status) string {
	for _, phase := range status.Phases {
		if !phase.Done && phase.Says != "" {
			return fmt.Sprintf(" (%s)", phase.Says)
		}
	}
	return ""
}
