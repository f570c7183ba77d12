package controlplane

import (
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// A control plane works hard for a second or two and then idles for hours. What counts is the memory that it keeps, which
// is decided at the start: Go does not move objects, so garbage between those that stay leaves holes. Measured on two
// processors, private memory when idle and CPU time of the start by GOGC of the start: 400: 205 MB, 1.1 s; 100: 162 MB, 1.2 s;
// 60: 152 MB, 1.5 s; 25: 138 MB, 2.6 s.
const (
	startGCPercent = 60
	idleGCPercent  = 20
	settleTime     = 2 * time.Second // after readiness, for the controllers' first syncs
	calmTime       = 30 * time.Second
)

func tuneForStart() { collect(startGCPercent) }

// tuneForIdle gives the memory of the start back. Few processors mean few threads that wake each other up, which is most
// of what an idle control plane does; two still let a request run while the collector does.
func tuneForIdle() {
	collect(idleGCPercent)
	runtime.GOMAXPROCS(min(2, runtime.NumCPU()))
	debug.FreeOSMemory()
}

// Trim gives back what can be of the memory that a working cluster has taken, before it sleeps.
func Trim() { debug.FreeOSMemory() }

// collect sets how much garbage there may be, unless who started us has said it by GOGC.
func collect(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
