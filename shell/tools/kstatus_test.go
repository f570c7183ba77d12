package tools

import (
	"bytes"
	"strings"
	"testing"
)

func TestKstatus(t *testing.T) {
	t.Parallel()
	const ready = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "generation": 2}, "spec": {"replicas": 2},
		"status": {"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2,
		"conditions": [{"type": "Available", "status": "True"}]}}`
	for _, tt := range []struct{ name, in, out, err string }{
		{"nothing", "", "", ""},
		{"current", ready, "Deployment/web\tCurrent\tDeployment is available. Replicas: 2\n", ""},
		{"not seen yet", strings.Replace(ready, `"observedGeneration": 2`, `"observedGeneration": 1`, 1),
			"Deployment/web\tInProgress\tDeployment generation is 2, but latest observed generation is 1\n", ""},
		{"going", `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"}}`,
			"ConfigMap/a\tTerminating\tResource scheduled for deletion\n", ""},
		{"a list and YAML", `{"apiVersion": "v1", "kind": "List", "items": [` + ready + "]}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
			"Deployment/web\tCurrent\tDeployment is available. Replicas: 2\nSecret/s\tCurrent\tResource is always ready\n", ""},
		{"what controllers say wins", "apiVersion: example.com/v1\nkind: Lamp\nmetadata: {name: l}\nstatus: {conditions: [{type: Ready, status: 'True'}, {type: Reconciling, status: 'True', message: still at it}]}\n",
			"Lamp/l\tInProgress\tstill at it\n", ""},
		{"no object", `{"a": 1}`, "", "has no kind"},
		{"no JSON", `[1, 2]`, "", "this is no object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			err := kstatus(t.Context(), &Call{Name: "kstatus", Stdin: strings.NewReader(tt.in), Stdout: &out, Stderr: &errs})
			if out.String() != tt.out {
				t.Errorf("got %q; want %q", out.String(), tt.out)
			}
			if (err != nil) != (tt.err != "") || !strings.Contains(errs.String(), tt.err) {
				t.Errorf("%v: %s; want %q", err, errs.String(), tt.err)
			}
		})
	}
}
