package cluster

import "slices"

// transitions is the state machine of a learner's cluster: the states that may follow each state.
var transitions = map[State][]State{
	Absent:   {Queued, Deleting, Stopped},
	Queued:   {Creating, Starting, Ready, Failed, Stopped, Absent, Deleting},
	Creating: {Ready, Failed, Absent, Deleting},
	Starting: {Ready, Failed, Stopped, Deleting},
	Ready:    {Frozen, Healing, Failed, Deleting, Stopped},
	Frozen:   {Ready, Healing, Failed, Deleting, Stopped},
	Healing:  {Ready, Failed, Deleting, Stopped},
	Deleting: {Absent, Failed, Queued},
	Stopped:  {Queued, Deleting, Absent},
	Failed:   {Queued, Deleting, Stopped, Absent},
}

// may tells whether next may follow s. A state may follow itself with another reason or phase.
func (s State) may(next State) bool { return s == next || slices.Contains(transitions[s], next) }
