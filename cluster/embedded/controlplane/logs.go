package controlplane

import (
	"io"
	"log/slog"
	"os"

	"k8s.io/klog/v2"
)

// quietLogs sends warnings and errors of the Kubernetes libraries to standard error and drops the rest: the last lines
// are what a learner is shown when the process dies.
func quietLogs() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
}
