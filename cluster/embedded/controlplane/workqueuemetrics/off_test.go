package workqueuemetrics_test

import (
	"runtime/pprof"
	"strings"
	"testing"

	"k8s.io/client-go/util/workqueue"
	_ "k8s.io/component-base/metrics/prometheus/workqueue" // sets a provider of metrics as it is initialised

	"github.com/apilab/apilab/cluster/embedded/controlplane/workqueuemetrics"
)

// TestOff notices a change of the order in which packages are initialised, and of upstream's names.
func TestOff(t *testing.T) {
	measures := func() bool {
		queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: "test"})
		defer queue.ShutDown()
		var stacks strings.Builder
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(stacks.String(), "updateUnfinishedWorkLoop")
	}
	if workqueuemetrics.Off(); measures() {
		t.Error("a new queue measures itself")
	}
}
