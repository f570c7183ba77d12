package controlplane

import (
	"runtime"
	"runtime/debug"
	"time"
)

// A control plane works hard for the seconds of its start and then idles for hours, so it is tuned twice. A start makes about
// 400 MB of garbage: collecting it costs a third of the start's CPU time and gains nothing.
const (
	startGCPercent = 100
	idleGCPercent  = 30
	settleTime     = 2 * time.Second // after readiness, for the controllers' first syncs
)

func tuneForStart() { debug.SetGCPercent(startGCPercent) }

// tuneForIdle gives the memory of the start back. Few processors mean few threads that wake each other up, which is most
// of what an idle control plane does; two still let a request run while the collector does.
func tuneForIdle() {
	debug.SetGCPercent(idleGCPercent)
	runtime.GOMAXPROCS(min(2, runtime.NumCPU()))
	debug.FreeOSMemory()
}
