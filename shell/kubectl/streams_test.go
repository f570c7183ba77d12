package kubectl

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// What upgrades its connection would dial the host's localhost, and must be known before it runs.
func TestAttaches(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"exec web -- ls":                            true,
		"cp web:/a b":                               true,
		"attach web":                                true,
		"run web --image=busybox:1.37":              false,
		"run web --image=busybox:1.37 -i":           true,
		"run web --image=busybox:1.37 --attach":     true,
		"debug web --image=busybox:1.37":            false,
		"debug web --image=busybox:1.37 -it":        true,
		"debug node/worker -it --image=busybox:1.3": true,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			words := strings.Fields(line)
			var found *cobra.Command
			found, rest, err := newTestConfined(t).command(words).Find(words)
			if err != nil {
				t.Fatal(err)
			}
			if err := found.ParseFlags(rest); err != nil {
				t.Fatal(err)
			}
			if got := attaches(found); got != want {
				t.Errorf("attaches is %v, want %v", got, want)
			}
		})
	}
}

func TestExplained(t *testing.T) {
	t.Parallel()
	if got := explained("error: Metrics API not available\n"); !strings.Contains(got, "has no metrics-server") {
		t.Errorf("top says %q", got)
	}
	if got := explained("error: timed out\n"); got != "error: timed out\n" {
		t.Errorf("another message became %q", got)
	}
}

func TestUnpublished(t *testing.T) {
	t.Parallel()
	const noGroup = `error: couldn't find resource for "kubevirt.io/v1, Resource=virtualmachines"`
	for _, tt := range []struct {
		args []string
		msg  string
		want bool
	}{
		{[]string{"explain", "vm.spec"}, noGroup, true},
		{[]string{"-n", "lab", "explain", "vm"}, "error: GVR (kubevirt.io/v1, Resource=virtualmachines) not found in OpenAPI schema", true},
		{[]string{"explain", "unicorns"}, `error: the server doesn't have a resource type "unicorns"`, false},
		{[]string{"get", "vm"}, noGroup, false},
	} {
		if got := unpublished(tt.args, tt.msg); got != tt.want {
			t.Errorf("unpublished(%q, %q) = %v", tt.args, tt.msg, got)
		}
	}
}
