//go:build unix && !linux

package cli

import "context"

func examineMemory(int) finding {
	return finding{grade: good, says: "not looked at on this system; a cluster and apilab take about 300 MiB"}
}

func examineSandbox(context.Context) finding {
	return finding{grade: good, says: "closed by construction"}
}
