package embedded_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	spdytransport "k8s.io/client-go/transport/spdy"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/embedded/kubeversion"
)

// TestCluster runs all that a learner may do on one cluster, each subtest in a namespace of its own.
func TestCluster(t *testing.T) {
	t.Parallel()
	ports := t.TempDir()
	var phases []cluster.Phase
	c, err := newProvider(t, t.TempDir()).Create(within(t, patience), cluster.Spec{ID: "local", Ports: ports}, func(p cluster.Phase) { phases = append(phases, p) })
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{cluster: c, kube: kubernetes.NewForConfigOrDie(c.LearnerConfig()), ports: ports}
	if err := expectPhases(phases); err != nil {
		t.Error(err)
	}
	t.Run("behaviour", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *lab, string){
			"is ready":                    isReady,
			"version":                     version,
			"deployment":                  deployment,
			"job":                         job,
			"failing job":                 failingJob,
			"misbehaving pods":            misbehaving,
			"init containers":             initContainers,
			"graceful deletion":           gracefulDeletion,
			"resize":                      resize,
			"garbage collection":          garbageCollection,
			"cronjob and autoscaler":      cronJob,
			"quota":                       quota,
			"custom resource with rules":  customResource,
			"short-lived definitions":     shortLived,
			"documents":                   documents,
			"apply conflict":              applyConflict,
			"admission policy":            admissionPolicy,
			"type checking of policies":   typeChecking,
			"bookmark":                    bookmark,
			"old resource version":        oldResourceVersion,
			"logs and exec":               logsAndExec,
			"webhook":                     webhook,
			"roles":                       roles,
			"field managers":              fieldManagers,
			"a node of the learner's own": ownNode,
			"signing":                     signing,
			"listens on loopback only":    loopbackOnly,
			"inotify":                     inotify,
			"usage":                       usage,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				ns := "t-" + strings.NewReplacer(" ", "-", "'", "").Replace(name)
				_, err := l.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				until(t, "the service account of "+ns, func(ctx context.Context) bool {
					_, err := l.kube.CoreV1().ServiceAccounts(ns).Get(ctx, "default", metav1.GetOptions{})
					return err == nil
				})
				test(t, l, ns)
			})
		}
	})
	// When nobody else needs these rights.
	t.Run("rights of the learner's own", func(t *testing.T) { ownRights(t, l) })
}

// A lab is a cluster in the hands of its learner.
type lab struct {
	cluster cluster.Cluster
	kube    kubernetes.Interface
	ports   string
}

// until polls, as a learner who looks again.
func until(t *testing.T, what string, ok func(context.Context) bool) {
	t.Helper()
	ctx := within(t, time.Minute)
	for !ok(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("%s did not come", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func expectPhases(phases []cluster.Phase) error {
	done := ""
	for i, p := range phases {
		if p.Says == "" {
			return fmt.Errorf("phase %d says nothing: %+v", i, p)
		}
		if p.Done {
			if p.Elapsed <= 0 {
				return fmt.Errorf("phase %s took no time", p.Name)
			}
			done += p.Name + " "
		}
	}
	if want := "etcd apiserver bootstrap controllers nodes "; done != want {
		return fmt.Errorf("phases done: %q, want %q", done, want)
	}
	return nil
}

func isReady(t *testing.T, l *lab, _ string) {
	nodes, err := l.kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) < 2 {
		t.Fatalf("nodes: %v, %v", nodes, err)
	}
	if _, err := l.kube.CoreV1().ConfigMaps("default").Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := l.kube.RbacV1().ClusterRoles().Get(t.Context(), "cluster-admin", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

func version(t *testing.T, l *lab, _ string) {
	v, err := l.kube.Discovery().ServerVersion()
	if err != nil || v.GitVersion != kubeversion.Version || v.Major != "1" || v.Minor != "37" {
		t.Errorf("server version %+v, %v", v, err)
	}
	if got := l.cluster.Capabilities(); got.Version != kubeversion.Version || got.RealPods || got.Logs {
		t.Errorf("capabilities %+v", got)
	}
}

func pod(name, image string, command ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image, Command: command}}},
	}
}

// states renders what a watch of a pod shows, as kubectl's STATUS column.
func states(t *testing.T, l *lab, ns string, options metav1.ListOptions, last string) []string {
	t.Helper()
	ctx := within(t, time.Minute)
	w, err := l.kube.CoreV1().Pods(ns).Watch(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var seen []string
	for e := range w.ResultChan() {
		p, ok := e.Object.(*corev1.Pod)
		if !ok {
			t.Fatalf("watch: %v", e.Object)
		}
		state := string(p.Status.Phase)
		if p.Spec.NodeName != "" && len(p.Status.ContainerStatuses) == 0 {
			state = "Scheduled"
		}
		for _, cs := range p.Status.ContainerStatuses {
			switch {
			case cs.State.Waiting != nil:
				state = cs.State.Waiting.Reason
			case cs.State.Terminated != nil:
				state = cs.State.Terminated.Reason
			case cs.Ready:
				state = "Ready"
			}
		}
		if e.Type == watch.Deleted {
			state = "Deleted"
		} else if p.DeletionTimestamp != nil {
			state = "Terminating " + state
		}
		if len(seen) == 0 || seen[len(seen)-1] != state {
			seen = append(seen, state)
		}
		if state == last {
			return seen
		}
	}
	t.Fatalf("pod did not come to %q, only %q", last, seen)
	return nil
}

func deployment(t *testing.T, l *lab, ns string) {
	replicas := int32(1)
	labels := map[string]string{"app": "web"}
	_, err := l.kube.AppsV1().Deployments(ns).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod("", "nginx").Spec}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := states(t, l, ns, metav1.ListOptions{}, "Ready")
	// The first state depends on when the watch begins.
	if text := strings.Join(got, ","); !strings.HasSuffix(text, "ContainerCreating,Ready") || len(got) < 3 {
		t.Errorf("a watch shows %q", got)
	}
	until(t, "availability", func(ctx context.Context) bool {
		d, err := l.kube.AppsV1().Deployments(ns).Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 1
	})
	pods, err := l.kube.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range pods.Items[0].Status.Conditions {
		if c.Status != corev1.ConditionTrue || c.Reason != "" || c.Message != "" {
			t.Errorf("condition of a pod that is ready: %+v", c)
		}
	}
	if s := pods.Items[0].Status; !strings.HasPrefix(s.PodIP, "10.244.") || s.HostIP == "" || s.StartTime == nil {
		t.Errorf("pod IP %q, host IP %q, start %v", s.PodIP, s.HostIP, s.StartTime)
	}
}

// fieldManagers: the components have the names that they have upstream, though they are parts of one program.
func fieldManagers(t *testing.T, l *lab, ns string) {
	if _, err := l.kube.BatchV1().Jobs(ns).Create(t.Context(), newJob("once", "true"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	nowhere := pod("nowhere", "nginx")
	nowhere.Spec.NodeSelector = map[string]string{"nowhere": "true"}
	if _, err := l.kube.CoreV1().Pods(ns).Create(t.Context(), nowhere, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "what the components write", func(ctx context.Context) bool {
		j, err := l.kube.BatchV1().Jobs(ns).Get(ctx, "once", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := l.kube.CoreV1().Pods(ns).Get(ctx, "nowhere", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return managers(j) == "embedded.test kube-controller-manager/status" && managers(p) == "embedded.test kube-scheduler/status"
	})
	role, err := l.kube.RbacV1().ClusterRoles().Get(t.Context(), "view", metav1.GetOptions{})
	if err != nil || !strings.Contains(managers(role), "kube-apiserver") {
		t.Errorf("the role view has managers %s, %v", managers(role), err)
	}
}

// managers lists who owns fields of an object, with the subresource they wrote.
func managers(o metav1.Object) string {
	var names []string
	for _, f := range o.GetManagedFields() {
		names = append(names, strings.TrimSuffix(f.Manager+"/"+f.Subresource, "/"))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

func newJob(name string, command ...string) *batchv1.Job {
	once := int32(0)
	spec := pod("", "busybox", command...).Spec
	spec.RestartPolicy = corev1.RestartPolicyNever
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{BackoffLimit: &once, Template: corev1.PodTemplateSpec{Spec: spec}}}
}

func job(t *testing.T, l *lab, ns string) {
	if _, err := l.kube.BatchV1().Jobs(ns).Create(t.Context(), newJob("once", "sh", "-c", "sleep 1; echo done"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "completion", func(ctx context.Context) bool {
		j, err := l.kube.BatchV1().Jobs(ns).Get(ctx, "once", metav1.GetOptions{})
		return err == nil && j.Status.Succeeded == 1 && j.Status.CompletionTime != nil
	})
}

func failingJob(t *testing.T, l *lab, ns string) {
	if _, err := l.kube.BatchV1().Jobs(ns).Create(t.Context(), newJob("once", "sh", "-c", "exit 3"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "failure", func(ctx context.Context) bool {
		j, err := l.kube.BatchV1().Jobs(ns).Get(ctx, "once", metav1.GetOptions{})
		return err == nil && j.Status.Failed == 1
	})
	pods, err := l.kube.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 1 {
		t.Fatalf("pods %v, %v", pods, err)
	}
	if ended := pods.Items[0].Status.ContainerStatuses[0].State.Terminated; ended == nil || ended.ExitCode != 3 {
		t.Errorf("ended %+v", ended)
	}
}

func misbehaving(t *testing.T, l *lab, ns string) {
	crash := pod("crash", "busybox")
	crash.Annotations = map[string]string{"apilab.io/simulate": "crash"}
	oom := pod("oom", "busybox")
	oom.Annotations = map[string]string{"apilab.io/simulate": "oom"}
	for _, c := range []struct {
		pod  *corev1.Pod
		last string
		want string
	}{
		{crash, "CrashLoopBackOff", "Error,CrashLoopBackOff"},
		{oom, "CrashLoopBackOff", "OOMKilled,CrashLoopBackOff"},
		{pod("typo", "nginx:nonexistent"), "ImagePullBackOff", "ErrImagePull,ImagePullBackOff"},
	} {
		if _, err := l.kube.CoreV1().Pods(ns).Create(t.Context(), c.pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		got := states(t, l, ns, metav1.ListOptions{FieldSelector: "metadata.name=" + c.pod.Name}, c.last)
		if !strings.HasSuffix(strings.Join(got, ","), c.want) {
			t.Errorf("%s: %q", c.pod.Name, got)
		}
	}
	// A mended image is pulled.
	patch := []byte(`{"spec":{"containers":[{"name":"main","image":"nginx:1.29"}]}}`)
	if _, err := l.kube.CoreV1().Pods(ns).Patch(t.Context(), "typo", types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	states(t, l, ns, metav1.ListOptions{FieldSelector: "metadata.name=typo"}, "Ready")
}

func initContainers(t *testing.T, l *lab, ns string) {
	always := corev1.ContainerRestartPolicyAlways
	p := pod("main", "nginx")
	p.Spec.InitContainers = []corev1.Container{
		{Name: "sidecar", Image: "envoy", RestartPolicy: &always},
		{Name: "first", Image: "busybox"},
		{Name: "second", Image: "busybox"},
	}
	if _, err := l.kube.CoreV1().Pods(ns).Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	got := states(t, l, ns, metav1.ListOptions{}, "Ready")
	if text := strings.Join(got, ","); !strings.HasSuffix(text, "PodInitializing,ContainerCreating,Ready") {
		t.Errorf("a watch shows %q", got)
	}
	up, err := l.kube.CoreV1().Pods(ns).Get(t.Context(), "main", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	init := up.Status.InitContainerStatuses
	if init[0].State.Running == nil || init[1].State.Terminated == nil || init[2].State.Terminated == nil {
		t.Errorf("init containers: %+v", init)
	}
}

func gracefulDeletion(t *testing.T, l *lab, ns string) {
	grace := int64(3)
	p := pod("slow", "busybox", "sleep", "3600") // handles no SIGTERM, so it lives for its whole grace period
	p.Spec.TerminationGracePeriodSeconds = &grace
	if _, err := l.kube.CoreV1().Pods(ns).Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	states(t, l, ns, metav1.ListOptions{}, "Ready")
	if err := l.kube.CoreV1().Pods(ns).Delete(t.Context(), "slow", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	got := states(t, l, ns, metav1.ListOptions{}, "Deleted")
	if took := time.Since(begin); took < 1500*time.Millisecond {
		t.Errorf("gone after %s, grace period 3s", took)
	}
	if text := strings.Join(got, ","); !strings.Contains(text, "Terminating Ready,Terminating Error,Deleted") {
		t.Errorf("a watch shows %q", got)
	}
}

func resize(t *testing.T, l *lab, ns string) {
	p := pod("main", "nginx")
	p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
	if _, err := l.kube.CoreV1().Pods(ns).Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	states(t, l, ns, metav1.ListOptions{}, "Ready")
	set := func(cpu string) {
		t.Helper()
		patch := fmt.Appendf(nil, `{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":%q}}}]}}`, cpu)
		if _, err := l.kube.CoreV1().Pods(ns).Patch(t.Context(), "main", types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "resize"); err != nil {
			t.Fatal(err)
		}
	}
	get := func(ctx context.Context) *corev1.Pod {
		up, err := l.kube.CoreV1().Pods(ns).Get(ctx, "main", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return up
	}
	set("200m")
	until(t, "the new size", func(ctx context.Context) bool {
		s := get(ctx).Status.ContainerStatuses[0]
		return s.Resources.Requests.Cpu().String() == "200m" && s.AllocatedResources.Cpu().String() == "200m" && s.RestartCount == 0
	})
	until(t, "the end of the resize", func(ctx context.Context) bool {
		for _, c := range get(ctx).Status.Conditions {
			if c.Type == corev1.PodResizeInProgress {
				return false
			}
		}
		return true
	})
}

func garbageCollection(t *testing.T, l *lab, ns string) {
	maps := l.kube.CoreV1().ConfigMaps(ns)
	owner, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID}}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the deletion of the dependent", func(ctx context.Context) bool {
		_, err := maps.Get(ctx, "owned", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func cronJob(t *testing.T, l *lab, ns string) {
	_, err := l.kube.BatchV1().CronJobs(ns).Create(t.Context(), &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "tick"},
		Spec: batchv1.CronJobSpec{Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: newJob("", "true").Spec}}}, metav1.CreateOptions{})
	if err != nil {
		t.Error(err)
	}
	_, err = l.kube.AutoscalingV2().HorizontalPodAutoscalers(ns).Create(t.Context(), &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 3, ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}}}, metav1.CreateOptions{})
	if err != nil {
		t.Error(err)
	}
	until(t, "the autoscaler's verdict", func(ctx context.Context) bool {
		h, err := l.kube.AutoscalingV2().HorizontalPodAutoscalers(ns).Get(ctx, "web", metav1.GetOptions{})
		return err == nil && len(h.Status.Conditions) > 0
	})
}

func quota(t *testing.T, l *lab, ns string) {
	_, err := l.kube.CoreV1().ResourceQuotas(ns).Create(t.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "few"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse("1")}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the quota's status", func(ctx context.Context) bool {
		q, err := l.kube.CoreV1().ResourceQuotas(ns).Get(ctx, "few", metav1.GetOptions{})
		return err == nil && len(q.Status.Used) == 1
	})
	// Admission reads quotas from a cache, as everywhere: it may admit some before it knows of this one.
	until(t, "the refusal of a secret too many", func(ctx context.Context) bool {
		_, err := l.kube.CoreV1().Secrets(ns).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "s-"}}, metav1.CreateOptions{})
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota")
	})
}

func customResource(t *testing.T, l *lab, ns string) {
	client := dynamic.NewForConfigOrDie(l.cluster.LearnerConfig())
	definition := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"boats.lab.example.com"},"spec":{
		"group":"lab.example.com","scope":"Namespaced","names":{"plural":"boats","singular":"boat","kind":"Boat"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"seats":{"type":"integer"},"crew":{"type":"integer"}},
		"x-kubernetes-validations":[{"rule":"self.crew <= self.seats","message":"more crew than seats"}]}}}}}]}}`
	create(t, client, schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, "", definition)
	boats := client.Resource(schema.GroupVersionResource{Group: "lab.example.com", Version: "v1", Resource: "boats"}).Namespace(ns)
	boat := func(seats, crew int64) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "lab.example.com/v1", "kind": "Boat",
			"metadata": map[string]any{"generateName": "b-"}, "spec": map[string]any{"seats": seats, "crew": crew}}}
	}
	until(t, "the new resource", func(ctx context.Context) bool {
		_, err := boats.Create(ctx, boat(4, 2), metav1.CreateOptions{})
		return err == nil
	})
	if _, err := boats.Create(t.Context(), boat(2, 4), metav1.CreateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "more crew than seats") {
		t.Errorf("a boat against the rules: %v", err)
	}
}

// shortLived deletes definitions of whose objects nobody has asked for one.
func shortLived(t *testing.T, l *lab, _ string) {
	resource := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	client := dynamic.NewForConfigOrDie(l.cluster.LearnerConfig())
	for round := range 20 {
		kind := fmt.Sprintf("brief%d", round)
		name := kind + "s.lab.example.com"
		create(t, client, resource, "", fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":%q},"spec":{
			"group":"lab.example.com","scope":"Cluster","names":{"plural":"%[2]ss","kind":%[2]q},"versions":[{"name":"v1","served":true,"storage":true,
			"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, name, kind))
		until(t, name+" to be established", func(ctx context.Context) bool {
			got, err := client.Resource(resource).Get(ctx, name, metav1.GetOptions{})
			return err == nil && strings.Contains(fmt.Sprint(got.Object["status"]), "InitialNamesAccepted")
		})
		if err := client.Resource(resource).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		until(t, "the end of "+name, func(ctx context.Context) bool {
			_, err := client.Resource(resource).Get(ctx, name, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	}
}

func create(t *testing.T, client dynamic.Interface, resource schema.GroupVersionResource, ns, text string) {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), object); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Resource(resource).Namespace(ns).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func applyConflict(t *testing.T, l *lab, ns string) {
	apply := func(manager, value string) error {
		text := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"shared"},"data":{"k":%q}}`, value)
		_, err := l.kube.CoreV1().ConfigMaps(ns).Patch(t.Context(), "shared", types.ApplyPatchType, text, metav1.PatchOptions{FieldManager: manager})
		return err
	}
	if err := apply("one", "1"); err != nil {
		t.Fatal(err)
	}
	if err := apply("two", "2"); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "one"`) {
		t.Errorf("a second owner: %v", err)
	}
}

func admissionPolicy(t *testing.T, l *lab, ns string) {
	client := dynamic.NewForConfigOrDie(l.cluster.LearnerConfig())
	group := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1"}
	create(t, client, group.GroupVersion().WithResource("validatingadmissionpolicies"), "", `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"short"},"spec":{
		"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]},
		"validations":[{"expression":"size(object.metadata.name) < 5","message":"keep names short"}]}}`)
	create(t, client, group.GroupVersion().WithResource("validatingadmissionpolicybindings"), "", fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"short"},"spec":{
		"policyName":"short","validationActions":["Deny"],"matchResources":{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":%q}}}}}`, ns))
	i := 0
	until(t, "the policy's refusal", func(ctx context.Context) bool {
		i++
		_, err := l.kube.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("too-long-", i)}}, metav1.CreateOptions{})
		return err != nil && strings.Contains(err.Error(), "keep names short")
	})
}

func bookmark(t *testing.T, l *lab, ns string) {
	// A bookmark that ends the initial events comes at once; the others, each minute.
	yes := true
	w, err := l.kube.CoreV1().ConfigMaps(ns).Watch(within(t, time.Minute), metav1.ListOptions{AllowWatchBookmarks: true, SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if e.Type == watch.Bookmark {
			return
		}
	}
	t.Error("no bookmark")
}

func oldResourceVersion(t *testing.T, l *lab, ns string) {
	w, err := l.kube.CoreV1().ConfigMaps(ns).Watch(within(t, time.Minute), metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	e := <-w.ResultChan()
	if err := apierrors.FromObject(e.Object); e.Type != watch.Error || !apierrors.IsResourceExpired(err) {
		t.Errorf("a watch from version 1: %s %v", e.Type, e.Object)
	}
}

func logsAndExec(t *testing.T, l *lab, ns string) {
	if _, err := l.kube.CoreV1().Pods(ns).Create(t.Context(), pod("main", "nginx"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	states(t, l, ns, metav1.ListOptions{}, "Ready")
	const sentence = "the pods of this cluster are simulated"
	_, err := l.kube.CoreV1().Pods(ns).GetLogs("main", &corev1.PodLogOptions{}).Stream(t.Context()) // as kubectl does
	if err == nil || !strings.Contains(err.Error(), sentence) || !strings.Contains(err.Error(), "kind") {
		t.Errorf("logs: %v", err)
	}
	for _, subresource := range []string{"exec", "attach"} {
		request := l.kube.CoreV1().RESTClient().Post().Resource("pods").Namespace(ns).Name("main").SubResource(subresource).Param("stdout", "true")
		if subresource == "exec" {
			request.Param("command", "ls")
		}
		ws, err := remotecommand.NewWebSocketExecutor(l.cluster.LearnerConfig(), http.MethodGet, request.URL().String())
		if err != nil {
			t.Fatal(err)
		}
		spdy, err := remotecommand.NewSPDYExecutor(l.cluster.LearnerConfig(), http.MethodPost, request.URL())
		if err != nil {
			t.Fatal(err)
		}
		for name, executor := range map[string]remotecommand.Executor{"websocket": ws, "spdy": spdy} {
			err := executor.StreamWithContext(within(t, time.Minute), remotecommand.StreamOptions{Stdout: io.Discard})
			if err == nil || !strings.Contains(err.Error(), sentence) {
				t.Errorf("%s by %s: %v", subresource, name, err)
			}
		}
	}

	to := l.kube.CoreV1().RESTClient().Post().Resource("pods").Namespace(ns).Name("main").SubResource("portforward").URL()
	tunnel, err := portforward.NewSPDYOverWebsocketDialer(to, l.cluster.LearnerConfig())
	if err != nil {
		t.Fatal(err)
	}
	transport, upgrader, err := spdytransport.RoundTripperFor(l.cluster.LearnerConfig())
	if err != nil {
		t.Fatal(err)
	}
	plain := spdytransport.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, to)
	for name, dialer := range map[string]httpstream.Dialer{"spdy": plain, "websocket, then spdy": portforward.NewFallbackDialer(tunnel, plain, httpstream.IsUpgradeFailure)} {
		conn, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
		if err == nil {
			conn.Close()
		}
		if err == nil || !strings.Contains(err.Error(), sentence) {
			t.Errorf("port-forward by %s: %v", name, err)
		}
	}
}

// webhook registers a learner's webhook on localhost, which is a socket in their folder, and one on the network.
func webhook(t *testing.T, l *lab, ns string) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: "the learner's webhook says no"}}
		_ = json.NewEncoder(w).Encode(review)
	}))
	listener, err := net.Listen("unix", filepath.Join(l.ports, "8443.sock"))
	if err != nil {
		t.Fatal(err)
	}
	server.Listener = listener
	server.TLS = &tls.Config{}
	server.StartTLS()
	t.Cleanup(server.Close)
	reached := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the API server reached the host's own port") }))
	t.Cleanup(reached.Close)
	ca := pemOf(server.Certificate().Raw)

	for _, c := range []struct{ name, url, want string }{
		{"own", "https://127.0.0.1:8443/", "the learner's webhook says no"},
		{"unused", "https://localhost:8444/", "nothing of yours listens on localhost:8444"},
		{"host", strings.Replace(reached.URL, "http:", "https:", 1), "nothing of yours listens"},
		{"network", "https://192.0.2.1:443/", "is not reachable"},
		{"metadata", "https://169.254.169.254/", "is not reachable"},
		{"named", "https://example.com/", "is not reachable"},
	} {
		none, fail, timeout := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Fail, int32(5)
		_, err = l.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "hook-" + c.name},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: c.name + ".example.com", SideEffects: &none, FailurePolicy: &fail, TimeoutSeconds: &timeout, AdmissionReviewVersions: []string{"v1"},
				ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: &c.url, CABundle: ca},
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": ns}},
				Rules: []admissionregistrationv1.RuleWithOperations{{Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule: admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"secrets"}}}},
			}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var last error
		until(t, "the webhook "+c.name, func(ctx context.Context) bool {
			_, last = l.kube.CoreV1().Secrets(ns).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "s-"}}, metav1.CreateOptions{})
			return last != nil
		})
		if !strings.Contains(last.Error(), c.want) {
			t.Errorf("%s: %v", c.url, last)
		}
		if err := l.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(t.Context(), "hook-"+c.name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		until(t, "the webhook's end", func(ctx context.Context) bool {
			_, err := l.kube.CoreV1().Secrets(ns).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "s-"}}, metav1.CreateOptions{})
			return err == nil
		})
	}
}

func roles(t *testing.T, l *lab, ns string) {
	config := l.cluster.LearnerConfig()
	config.Impersonate.UserName = "system:serviceaccount:" + ns + ":default"
	other := kubernetes.NewForConfigOrDie(config)
	if _, err := other.CoreV1().Secrets(ns).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a service account without roles: %v", err)
	}
	token, err := l.kube.CoreV1().ServiceAccounts(ns).CreateToken(t.Context(), "default", tokenRequest(), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config = l.cluster.LearnerConfig()
	config.CertData, config.KeyData, config.BearerToken = nil, nil, token.Status.Token
	who, err := kubernetes.NewForConfigOrDie(config).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), selfReview(), metav1.CreateOptions{})
	if err != nil || who.Status.UserInfo.Username != "system:serviceaccount:"+ns+":default" {
		t.Errorf("by its token it is %v, %v", who, err)
	}
}

// ownRights takes the learner's rights away, in all the ways in which they can do so by mistake.
func ownRights(t *testing.T, l *lab) {
	bindings := l.kube.RbacV1().ClusterRoleBindings()
	for name, spoil := range map[string]func(context.Context) error{
		"deleted": func(ctx context.Context) error {
			return bindings.Delete(ctx, "apilab:learners", metav1.DeleteOptions{})
		},
		"emptied": func(ctx context.Context) error {
			_, err := bindings.Patch(ctx, "apilab:learners", types.MergePatchType, []byte(`{"subjects":[]}`), metav1.PatchOptions{})
			return err
		},
	} {
		before, err := bindings.Get(t.Context(), "apilab:learners", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := spoil(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		until(t, "the binding that was "+name, func(ctx context.Context) bool {
			after, err := bindings.Get(ctx, "apilab:learners", metav1.GetOptions{})
			return err == nil && after.ResourceVersion != before.ResourceVersion && len(after.Subjects) == 1
		})
	}
}

func ownNode(t *testing.T, l *lab, ns string) {
	if _, err := l.kube.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "own", Labels: map[string]string{"own": "yes"}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p := pod("there", "nginx")
	p.Spec.NodeSelector = map[string]string{"own": "yes"}
	if _, err := l.kube.CoreV1().Pods(ns).Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	states(t, l, ns, metav1.ListOptions{}, "Ready")
}

func usage(t *testing.T, l *lab, _ string) {
	u, err := l.cluster.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const mb = 1 << 20
	if u.PrivateBytes < 30*mb || u.PrivateBytes > 1000*mb || u.PSSBytes < u.PrivateBytes/2 || u.CPU < 500*time.Millisecond || u.DiskBytes < mb/2 || u.DiskBytes > 100*mb {
		t.Errorf("implausible: %+v", u)
	}
}
