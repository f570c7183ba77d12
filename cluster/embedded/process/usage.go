package process

import "time"

// Usage is what a process takes from the machine.
type Usage struct {
	Anonymous    int64         // bytes of private anonymous memory (heap, stacks)
	Proportional int64         // bytes of memory, shared pages divided among their users (PSS)
	CPU          time.Duration // since the process started, all threads, user and system
}
