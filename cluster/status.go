package cluster

import "time"

// A State is where a learner's cluster stands.
type State string

// The states, in the order of a life.
const (
	Absent   State = "absent"   // never claimed, or deleted
	Queued   State = "queued"   // waits for its turn to start
	Creating State = "creating" // being made from nothing
	Starting State = "starting" // being started on its data
	Ready    State = "ready"
	Frozen   State = "frozen"  // sleeps, as nobody used it for a while; the next use wakes it at once
	Healing  State = "healing" // its process died or stopped answering; being restarted with its data
	Deleting State = "deleting"
	Stopped  State = "stopped" // data kept, no process; Reason says why
	Failed   State = "failed"  // given up, Reason says why; Retry and Reset are possible
)

// Status is what the learner sees of their cluster.
type Status struct {
	ID           string       `json:"id"`
	Backend      string       `json:"backend"` // that the cluster is of; during a switch, that it will be of
	State        State        `json:"state"`
	Since        time.Time    `json:"since"`
	Reason       string       `json:"reason,omitempty"`
	Position     int          `json:"position,omitempty"` // in the queue of those that wait to start, 1 being the next
	Phases       []Phase      `json:"phases,omitempty"`
	Capabilities Capabilities `json:"capabilities"`
}
