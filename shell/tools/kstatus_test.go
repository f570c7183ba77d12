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
		{"current", ready, `
OBJECT           STATUS    MESSAGE
Deployment/web   Current   Deployment is available. Replicas: 2
`, ""},
		{"not seen yet", strings.Replace(ready, `"observedGeneration": 2`, `"observedGeneration": 1`, 1),
			`
OBJECT           STATUS       MESSAGE
Deployment/web   InProgress   Deployment generation is 2, but latest observed generation is 1
`, ""},
		{"going", `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"}}`,
			`
OBJECT        STATUS        MESSAGE
ConfigMap/a   Terminating   Resource scheduled for deletion
`, ""},
		{"a list and YAML", `{"apiVersion": "v1", "kind": "List", "items": [` + ready + "]}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
			`
OBJECT           STATUS    MESSAGE
Deployment/web   Current   Deployment is available. Replicas: 2
Secret/s         Current   Resource is always ready
`, ""},
		{"what controllers say wins", "apiVersion: example.com/v1\nkind: Lamp\nmetadata: {name: l}\nstatus: {conditions: [{type: Ready, status: 'True'}, {type: Reconciling, status: 'True', message: still at it}]}\n",
			`
OBJECT   STATUS       MESSAGE
Lamp/l   InProgress   still at it
`, ""},
		{"no object", `{"a": 1}`, "", "has no kind"},
		{"no JSON", `[1, 2]`, "", "this is no object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			err := kstatus(t.Context(), &Call{Name: "kstatus", Stdin: strings.NewReader(tt.in), Stdout: &out, Stderr: &errs})
			if want := strings.TrimPrefix(tt.out, "\n"); out.String() != want {
				t.Errorf("got\n%swant\n%s", out.String(), want)
			}
			if (err != nil) != (tt.err != "") || !strings.Contains(errs.String(), tt.err) {
				t.Errorf("%v: %s; want %q", err, errs.String(), tt.err)
			}
		})
	}
}
