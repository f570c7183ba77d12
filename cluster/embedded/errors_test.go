package embedded

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"
)

func TestTransient(t *testing.T) {
	exit := exec.Command("/nonexistent").Run() // some error
	const hook = `F1130 20:52:19.800027   20691 hooks.go:203] PostStartHook "scheduling/bootstrap-system-priority-classes" failed: unable to add default system priority classes: ` +
		`priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: not yet ready to handle request`
	tests := []struct {
		name string
		err  error
		want bool
	}{
		{"a hook that was not waited for", newDeathError("apiserver", "", exit, []string{"I1130 something", hook}), true},
		{"the same, deep in an error", fmt.Errorf("create: %w", newDeathError("apiserver", "", exit, []string{hook})), true},
		{"a panic", newDeathError("apiserver", "", exit, []string{"panic: nil map"}), false},
		{"a full disk, whatever else failed", newDeathError("apiserver", "no space left on device", exit, []string{hook}), false},
		{"another error", errors.New("PostStartHook failed: "), false},
	}
	for _, test := range tests {
		if got := transient(test.err); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
