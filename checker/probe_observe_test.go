package checker

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/apilab/apilab/checker/internal/real"
)

// An observation sees the learner's requests of its time, and the probe's own are not among them.
func TestProbeObserves(t *testing.T) {
	t.Parallel()
	gateway := real.NewGateway(t)
	l := newLab(t, func(o *Options) { o.Records = gateway.Recorder })
	l.createConfigMap("mine", object{"k": "v"})
	learner, err := dynamic.NewForConfig(gateway.Config)
	if err != nil {
		t.Fatal(err)
	}
	write := func(key string) {
		t.Helper()
		body := `{"metadata":{"labels":{"` + key + `":"x"}}}`
		_, err := learner.Resource(configmaps).Namespace(l.namespace).Patch(t.Context(), "mine", types.MergePatchType, []byte(body), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	write("before") // does not count
	id := l.open(`
  - id: quiet
    says: One request
    probe:
      after: [{resource: configmaps, namespace: NS, name: mine}]
      steps:
        - patch: {resource: configmaps, namespace: NS, name: mine, body: {data: {touched: by-the-probe}}}
        - wait: {resource: configmaps, namespace: NS, name: mine, expect: "'during' in object.metadata.labels", within: 20s}
        - observe: {for: 100ms}
        - observe: {for: 100ms}
    expect: >-
      result[0].requests.size() == 0 && result[3].requests.size() == 0
      && result[2].requests.map(r, r.body.metadata.labels) == [{'during': 'x'}]
`)
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		o, err := l.on(configmaps, l.namespace).Get(t.Context(), "mine", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, touched, _ := unstructured.NestedString(o.Object, "data", "touched"); touched {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the probe does not begin")
		}
	}
	write("during")
	l.await(id, "quiet", Passing)
}
