package process

import "syscall"

// attributes: macOS has no parent-death signal; the closing of the child's input does that work.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func coalesceTimers() (restore func()) { return func() {} }

// waitWithoutReaping: os.Process guards its own signals against reaping; ours go to the group, a moment too late at worst.
func waitWithoutReaping(int) {}
