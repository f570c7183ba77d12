package inventory

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/apilab/apilab/checker/internal/real"
)

func TestMain(m *testing.M) { os.Exit(real.Main(m)) }

// mess is what learners leave at worst: things that are held, that make requests fail, and that nobody answers for.
const mess = `
set -e
kubectl create namespace messy
kubectl create deployment web -n messy --image=registry.k8s.io/pause:3.10 --replicas=3
kubectl create deployment here --image=registry.k8s.io/pause:3.10
kubectl create configmap held -n messy
kubectl patch configmap held -n messy --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'
kubectl create configmap held
kubectl patch configmap held --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'
kubectl delete configmap held --wait=false
kubectl create clusterrole more --verb=get --resource=pods
kubectl label clusterrole more rbac.authorization.k8s.io/aggregate-to-view=true
kubectl apply -f - <<'END'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kettles.mess.example.com}
spec:
  group: mess.example.com
  scope: Namespaced
  names: {plural: kettles, singular: kettle, kind: Kettle, listKind: KettleList}
  versions:
    - &v {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
    - {<<: *v, name: v2, storage: false}
END
kubectl wait --for=condition=Established crd/kettles.mess.example.com
until kubectl create -f - <<'END'
{apiVersion: mess.example.com/v1, kind: Kettle, metadata: {name: red, namespace: messy, finalizers: [mess.example.com/hold]}}
END
do sleep 0.2; done
kubectl patch crd kettles.mess.example.com --type=merge -p '{"spec":{"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://localhost:9"}}}}}'
kubectl apply -f - <<'END'
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.nobody.example.com},
 spec: {group: nobody.example.com, version: v1, groupPriorityMinimum: 100, versionPriority: 10, insecureSkipTLSVerify: true, service: {name: none, namespace: messy}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: refuses-all}
webhooks:
  - {name: no.example.com, clientConfig: {url: "https://localhost:9"}, sideEffects: None, admissionReviewVersions: [v1], failurePolicy: Fail,
     rules: [{apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"]}]}
END
`

func TestClear(t *testing.T) {
	cluster, err := Connect(real.Cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	run := func(script string) {
		t.Helper()
		if output, err := real.Shell(t, "")(context.Background(), script); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
	}
	first, err := cluster.Settled(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, script string
		want         []string
	}{
		{"nothing", "true", nil},
		{"a mess", mess, nil},
		{"an object that was changed", "kubectl label namespace default a=b", []string{"namespaces default is not what it was (metadata.labels.a)"}},
		{"an object that was changed back", "kubectl label namespace default a-", nil},
		{"a node's capacity", `kubectl patch node node-1 --subresource=status --type=merge -p '{"status":{"capacity":{"example.com/lamps":"2"}}}'`,
			[]string{"nodes node-1 is not what it was (status.capacity.example.com/lamps)"}},
		{"an object that was deleted", "kubectl delete flowschema probes", []string{"flowschemas.flowcontrol.apiserver.k8s.io probes is gone", "nodes node-1 is not what it was (status.capacity.example.com/lamps)"}},
	} {
		run(tt.script)
		changes, err := cluster.Clear(t.Context(), first)
		var got []string
		for _, change := range changes {
			got = append(got, change.String())
		}
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("after %s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}
