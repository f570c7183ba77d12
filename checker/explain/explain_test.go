package explain

import (
	"testing"

	"github.com/apilab/apilab/exercises/expr"
)

type object = map[string]any
type list = []any

var (
	fin = object{
		"kind":     "ConfigMap",
		"metadata": object{"name": "fin-demo", "namespace": "api-lab", "finalizers": list{"a", "b"}, "generation": int64(2)},
		"data":     object{"k": "v", "n": "seven"},
	}
	deploy = object{
		"kind":     "Deployment",
		"metadata": object{"name": "web", "generation": int64(3), "labels": object{"app": "web"}, "annotations": nil},
		"spec": object{
			"replicas": int64(2), "paused": false, "type": "ClusterIP",
			"template": object{"spec": object{"containers": list{
				object{"name": "nginx", "image": "nginx:1"}, object{"name": "app", "image": "app:2"},
			}}},
		},
		"status": object{
			"observedGeneration": int64(2),
			"conditions":         list{object{"type": "Available", "status": "False"}, object{"type": "Progressing", "status": "True"}},
		},
	}
	pods = list{
		object{"kind": "Pod", "metadata": object{"name": "web-1"}, "status": object{"phase": "Running"}},
		object{"kind": "Pod", "metadata": object{"name": "web-2"}, "status": object{"phase": "Pending"}},
		object{"kind": "Pod", "metadata": object{"name": "web-3"}, "status": object{"phase": "Pending"}},
	}
	request = object{
		"verb": "list", "path": "/api/v1/pods", "query": object{"resourceVersion": "5"}, "fieldManager": "kubectl",
		"status": object{"code": int64(200), "reason": "", "message": ""}, "body": object{"spec": object{"replicas": int64(1)}},
		"events": list{}, "eventCount": int64(0), "subresource": "", "response": nil,
	}
)

func TestWhy(t *testing.T) {
	t.Parallel()
	cm := Subject{Object: "ConfigMap fin-demo in api-lab"}
	dep := Subject{Object: "Deployment web in api-lab"}
	podList := Subject{Lists: map[string]Noun{"objects": {One: "Pod", Many: "Pods", Where: "in api-lab"}}}
	answer := Subject{Secret: "answer", Lists: map[string]Noun{"pods": {One: "Pod", Many: "Pods", Where: "in api-lab"}}}
	yours := Subject{Lists: map[string]Noun{"requests": {One: "request of yours", Many: "requests of yours"}}}
	requestsVars := expr.Vars{"request": object{"id": int64(3), "verb": "list"}, "requests": list{
		object{"id": int64(1), "verb": "get", "name": "", "status": object{"code": int64(200)}, "events": list{}},
		object{"id": int64(2), "verb": "patch", "name": "ledger", "status": object{"code": int64(200)}, "events": list{}},
	}}
	noRequests := expr.Vars{"request": object{}, "requests": list{}}
	none := expr.Vars{"object": nil, "old": nil}
	finVars := expr.Vars{"object": fin, "old": nil}
	depVars := expr.Vars{"object": deploy, "old": fin}
	podVars := expr.Vars{"objects": pods}
	noPods := expr.Vars{"objects": list{}}
	requestVars := expr.Vars{"request": request, "requests": list{request}}
	with := []string{"pods"}
	for _, tt := range []struct {
		source  string
		kind    expr.Kind
		vars    expr.Vars
		subject Subject
		want    string
	}{
		// Null objects.
		{"object != null", "object", none, cm, "there is no ConfigMap fin-demo in api-lab yet"},
		{"object.spec.replicas == 3", "object", none, cm, "there is no ConfigMap fin-demo in api-lab yet"},
		{"has(object.metadata.deletionTimestamp)", "object", none, cm, "there is no ConfigMap fin-demo in api-lab yet"},
		{"has(object.metadata.deletionTimestamp) && 'x' in object.metadata.finalizers", "object", none, cm, "there is no ConfigMap fin-demo in api-lab yet"},
		{"object.metadata.finalizers.exists(f, f == 'x')", "object", none, cm, "there is no ConfigMap fin-demo in api-lab yet"},
		{"object == null", "object", finVars, cm, "ConfigMap fin-demo in api-lab still exists"},
		{"!(object != null)", "object", finVars, cm, "ConfigMap fin-demo in api-lab still exists"},
		{"old != null", "object", finVars, cm, "ConfigMap fin-demo in api-lab has not changed yet"},
		{"old.metadata.name == 'x'", "object", finVars, cm, "ConfigMap fin-demo in api-lab has not changed yet"},
		{"old.metadata.name == 'x'", "object", depVars, cm, `metadata.name of the version before is "fin-demo"; expected "x"`},
		// has.
		{"has(object.metadata.deletionTimestamp) && 'x' in object.metadata.finalizers", "object", finVars, cm, "metadata.deletionTimestamp is not set"},
		{"!has(object.metadata.finalizers)", "object", finVars, cm, `metadata.finalizers is set, to ["a", "b"]; expected none`},
		{"has(object.status.phase.x)", "object", finVars, cm, "status is not set"},
		// Missing fields.
		{"object.spec.replicas == 3", "object", finVars, cm, "spec is not set"},
		{"object.metadata.labels['app'] == 'x'", "object", finVars, cm, "metadata.labels is not set"},
		{"object.metadata.labels['app.kubernetes.io/name'] == 'x'", "object", depVars, dep, `metadata.labels["app.kubernetes.io/name"] is not set`},
		{"object.metadata.annotations['a'] == 'x'", "object", depVars, dep, "metadata.annotations is not set"},
		{"size(object.metadata.annotations) == 0", "object", depVars, dep, "metadata.annotations is not set"},
		{"'x' in object.metadata.ownerReferences", "object", finVars, cm, "metadata.ownerReferences is not set"},
		// Comparison.
		{"object.spec.replicas == 3", "object", depVars, dep, "spec.replicas is 2; expected 3"},
		{"3 == object.spec.replicas", "object", depVars, dep, "spec.replicas is 2; expected 3"},
		{"object.spec.replicas != 2", "object", depVars, dep, "spec.replicas is 2; expected something other than 2"},
		{"!(object.spec.replicas == 2)", "object", depVars, dep, "spec.replicas is 2; expected something other than 2"},
		{"object.spec.replicas >= 3", "object", depVars, dep, "spec.replicas is 2; expected at least 3"},
		{"3 < object.spec.replicas", "object", depVars, dep, "spec.replicas is 2; expected more than 3"},
		{"!(object.spec.replicas > 1)", "object", depVars, dep, "spec.replicas is 2; expected at most 1"},
		{"object.status.observedGeneration == object.metadata.generation", "object", depVars, dep, "status.observedGeneration is 2, but metadata.generation is 3"},
		{"object.metadata.generation != object.status.observedGeneration + 1", "object", depVars, dep, "metadata.generation and status.observedGeneration + 1 are both 3"},
		{"object.status.observedGeneration >= object.metadata.generation", "object", depVars, dep, "status.observedGeneration is 2; expected at least metadata.generation, which is 3"},
		{"object.spec.paused", "object", depVars, dep, "spec.paused is false; expected true"},
		{"object.spec.paused == true", "object", depVars, dep, "spec.paused is false; expected true"},
		{"!object.spec.paused && object.spec.replicas == 3", "object", depVars, dep, "spec.replicas is 2; expected 3"},
		{"object.metadata.labels != null && object.metadata.annotations != null", "object", depVars, dep, "metadata.annotations is not set"},
		{"object.metadata.labels == null", "object", depVars, dep, `metadata.labels is set, to {app: "web"}; expected none`},
		{"object.?spec.?minReady.orValue(1) == 5", "object", depVars, dep, "spec.minReady is 1; expected 5"},
		{"object.?spec.?replicas.hasValue() && object.spec.replicas == 4", "object", depVars, dep, "spec.replicas is 2; expected 4"},
		{"int(object.data.n) == 7", "object", finVars, cm, `data.n is "seven", which is not a whole number`},
		{"quantity(object.data.n).isLessThan(quantity('1'))", "object", finVars, cm, `data.n is "seven", which is not a quantity such as 100m or 1Gi`},
		// in, size, strings.
		{"'example.com/hold' in object.metadata.finalizers", "object", finVars, cm, `metadata.finalizers is ["a", "b"]; expected "example.com/hold" in it`},
		{"!('a' in object.metadata.finalizers)", "object", finVars, cm, `"a" is still in metadata.finalizers`},
		{"'key' in object.data", "object", finVars, cm, `data has no key "key"`},
		{"!('k' in object.data)", "object", finVars, cm, `data has the key "k"; expected none such`},
		{"object.spec.type in ['NodePort', 'LoadBalancer']", "object", depVars, dep, `spec.type is "ClusterIP"; expected one of "NodePort", "LoadBalancer"`},
		{"size(object.metadata.finalizers) == 1", "object", finVars, cm, "metadata.finalizers has 2 items; expected 1"},
		{"object.data.size() > 2", "object", finVars, cm, "data has 2 keys; expected more than 2"},
		{"size(object.data.n) < 2", "object", finVars, cm, "data.n has 5 characters; expected less than 2"},
		{"object.metadata.finalizers[2] == 'c'", "object", finVars, cm, "metadata.finalizers has 2 items"},
		{"object.metadata.name.startsWith('x')", "object", finVars, cm, `metadata.name is "fin-demo"; expected it to start with "x"`},
		{"!object.metadata.name.contains('fin')", "object", finVars, cm, `metadata.name is "fin-demo"; expected it not to contain "fin"`},
		{"object.metadata.name.matches('^web')", "object", finVars, cm, `metadata.name is "fin-demo"; expected it to match "^web"`},
		{"sets.contains(object.metadata.finalizers, ['c'])", "object", finVars, cm, `sets.contains(metadata.finalizers, ["c"]) is false: metadata.finalizers is ["a", "b"]`},
		// or, ternary, bind.
		{"object.spec.type == 'NodePort' || object.spec.type == 'LoadBalancer'", "object", depVars, dep, `spec.type is "ClusterIP"; expected "NodePort" or "LoadBalancer"`},
		{"object.spec.replicas == 3 || object.spec.paused", "object", depVars, dep, "spec.replicas is 2; expected 3, and spec.paused is false; expected true"},
		{"object == null || object.spec.replicas == 0", "object", depVars, dep, "spec.replicas is 2; expected 0"},
		{"!has(object.spec.replicas) || object.spec.replicas == 0", "object", depVars, dep, "spec.replicas is 2; expected 0"},
		{"!(object.spec.paused || object.spec.replicas == 2)", "object", depVars, dep, "spec.replicas is 2; expected something other than 2"},
		{"has(object.spec.x) ? object.spec.x == 1 : object.spec.replicas == 1", "object", depVars, dep, "spec.replicas is 2; expected 1"},
		{"cel.bind(s, object.spec, s.replicas == 3 && s.paused)", "object", depVars, dep, "replicas of spec is 2; expected 3"},
		// Macros over a field.
		{"object.metadata.finalizers.exists(f, f == 'x')", "object", finVars, cm, `metadata.finalizers has no "x"; it has "a", "b"`},
		{"!object.metadata.finalizers.exists(f, f == 'a')", "object", finVars, cm, `finalizer "a" is still there`},
		{"object.spec.template.spec.containers.exists(c, c.name == 'sidecar' && c.image == 'x')", "object", depVars, dep, `nothing in spec.template.spec.containers has name "sidecar"; found "nginx", "app"`},
		{"object.spec.template.spec.containers.exists(c, c.name == 'app' && c.image == 'app:3')", "object", depVars, dep, `image of container "app" is "app:2"; expected "app:3"`},
		{"object.status.conditions.exists(c, c.type == 'Available' && c.status == 'True')", "object", depVars, dep, `status of condition "Available" is "False"; expected "True"`},
		{"object.spec.template.spec.containers.all(c, has(c.resources))", "object", depVars, dep, `resources of container "nginx" is not set`},
		{"object.spec.template.spec.containers.exists(c, has(c.resources.limits))", "object", depVars, dep, `none of the 2 in spec.template.spec.containers fits: resources of container "nginx" is not set`},
		{"object.spec.template.spec.containers.exists_one(c, c.image.contains(':'))", "object", depVars, dep, `2 in spec.template.spec.containers fit image.contains(":"); expected exactly one`},
		{"object.spec.template.spec.containers.map(c, c.image) == ['x']", "object", depVars, dep, `spec.template.spec.containers.map(c, c.image) is ["nginx:1", "app:2"]; expected ["x"]`},
		{"object.data.exists(k, v, v == 'z')", "object", finVars, cm, `data has no "z"; it has "v", "seven"`},
		// Lists of objects.
		{"objects.size() == 3", "objects", noPods, podList, "there are no Pods in api-lab yet; expected 3"},
		{"size(objects) >= 4", "objects", podVars, podList, "there are 3 Pods in api-lab; expected at least 4"},
		{"objects.exists(p, p.status.phase == 'Running')", "objects", noPods, podList, "there are no Pods in api-lab yet"},
		{"objects.exists(p, p.status.phase == 'Failed')", "objects", podVars, podList, `no Pod in api-lab has status.phase "Failed"; found "Running", "Pending"`},
		{"objects.all(p, p.status.phase == 'Running')", "objects", podVars, podList, `status.phase of Pod web-2 is "Pending"; expected "Running"`},
		{"objects.exists(p, p.metadata.name == 'web-2' && p.status.phase == 'Running')", "objects", podVars, podList, `status.phase of Pod web-2 is "Pending"; expected "Running"`},
		{"!objects.exists(p, p.metadata.name == 'web-2')", "objects", podVars, podList, "Pod web-2 is still there"},
		{"!objects.exists(p, p.status.phase == 'Pending')", "objects", podVars, podList, `status.phase of Pod web-2 is "Pending"; expected something other than "Pending"`},
		{"objects.filter(p, p.status.phase == 'Running').size() == 2", "objects", podVars, podList, `1 of the 3 Pods in api-lab fits (status.phase == "Running"); expected 2`},
		{"objects[0].status.phase == 'Pending'", "objects", podVars, podList, `status.phase of Pod web-1 is "Running"; expected "Pending"`},
		{"objects[5].status.phase == 'Pending'", "objects", podVars, podList, "there are 3 Pods in api-lab"},
		{"objects[0].status.phase == 'Pending'", "objects", noPods, podList, "there are no Pods in api-lab yet"},
		// Requests.
		{"request.verb == 'watch'", "request", requestVars, Subject{}, `verb is "list"; expected "watch"`},
		{"request.query.resourceVersion == '1'", "request", requestVars, Subject{}, `query parameter resourceVersion is "5"; expected "1"`},
		{"'watch' in request.query", "request", requestVars, Subject{}, `request.query has no key "watch"`},
		{"request.query.watch == '1'", "request", requestVars, Subject{}, "query parameter watch is not set"},
		{"request.status.code == 410", "request", requestVars, Subject{}, "status code is 200; expected 410"},
		{"request.body.spec.replicas == 2", "request", requestVars, Subject{}, "spec.replicas of the body is 1; expected 2"},
		{"request.response.kind == 'Status'", "request", requestVars, Subject{}, "the response is not set"},
		{"request.events.exists(e, e.type == 'BOOKMARK')", "request", requestVars, Subject{}, "events is empty"},
		{"requests.exists(r, r.verb == 'get' && r.status.code == 404)", "request", requestsVars, yours, "status code of one of your requests is 200; expected 404"},
		{"requests.exists(r, r.verb == 'watch')", "request", requestsVars, yours, `no request of yours has verb "watch"; found "get", "patch"`},
		{"requests.exists(r, r.id < request.id && r.verb == 'get')", "request", expr.Vars{"request": object{"id": int64(1)}, "requests": list{object{"id": int64(1)}}}, yours, "you sent no request before it"},
		{"requests.exists(r, r.verb == 'get')", "request", noRequests, yours, "there are no requests of yours yet"},
		{"requests.exists(r, r.id < request.id && r.name == 'other')", "request", requestsVars, yours, `name of an earlier request is ""; expected "other"`},
		{"requests.exists(r, r.events.exists(e, e.type == 'BOOKMARK' && request.verb == 'list'))", "request", requestsVars, yours, "none of the 2 requests of yours fits: events of an earlier request is empty"},
		// Answers are not given away.
		{"answer == '42'", "answer", expr.Vars{"answer": "41", "pods": pods}, answer, `"41" is not right`},
		{"int(answer) == 42", "answer", expr.Vars{"answer": "x", "pods": pods}, answer, `answer is "x", which is not a whole number`},
		{"pods.exists(p, p.metadata.name == answer)", "answer", expr.Vars{"answer": "x", "pods": pods}, answer, `"x" is not right`},
		{"pods.size() == 4 && answer == 'x'", "answer", expr.Vars{"answer": "x", "pods": pods}, answer, "there are 3 Pods in api-lab; expected 4"},
	} {
		t.Run(tt.source, func(t *testing.T) {
			t.Parallel()
			var names []string
			if tt.kind == "answer" {
				names = with
			}
			x, err := expr.Compile(tt.source, tt.kind, names...)
			if err != nil {
				t.Fatal(err)
			}
			got := Why(x, tt.vars, tt.subject)
			if got.Text != tt.want || got.Broken {
				t.Errorf("got  %q (broken %v)\nwant %q", got.Text, got.Broken, tt.want)
			}
		})
	}
}

func TestWhyOfBroken(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"object.spec.replicas > 'a'":                                 `object.spec.replicas > "a" cannot be evaluated: no such overload`,
		"object.metadata.name.foo == 1":                              `object.metadata.name.foo cannot be evaluated: metadata.name is "web", which has no fields`,
		"object.spec.replicas":                                       "spec.replicas is 2, which is neither true nor false",
		"object.spec.replicas && true":                               "spec.replicas is 2, which is neither true nor false",
		"object.spec.replicas / 0 == 1":                              "object.spec.replicas / 0 cannot be evaluated: division by zero",
		"object.spec.containers.foo == 1":                            "",
		"size(object.spec.replicas) == 1":                            "size(object.spec.replicas) cannot be evaluated: no such overload: size",
		"object.status.conditions['a'] == 1":                         `object.status.conditions["a"] cannot be evaluated: unsupported index type 'string' in list`,
		"object.spec.template.spec.containers.exists(c, c.name > 1)": `c.name > 1 cannot be evaluated: no such overload`,
	} {
		x, err := expr.Compile(source, expr.Object)
		if err != nil {
			t.Fatal(source, err)
		}
		got := Why(x, expr.Vars{"object": deploy, "old": nil}, Subject{Object: "Deployment web in api-lab"})
		if want == "" {
			if got.Broken {
				t.Errorf("%s: broken: %s", source, got.Text)
			}
			continue
		}
		if !got.Broken || got.Text != want {
			t.Errorf("%s:\ngot  %q (broken %v)\nwant %q", source, got.Text, got.Broken, want)
		}
	}
}

func TestWhyOfTrueIsNothing(t *testing.T) {
	t.Parallel()
	x, _ := expr.Compile("object.spec.replicas == 2", expr.Object)
	if got := Why(x, expr.Vars{"object": deploy, "old": nil}, Subject{}); got != (Reason{}) {
		t.Errorf("got %+v", got)
	}
}

func TestWhyNamesFieldAndValue(t *testing.T) {
	t.Parallel()
	x, _ := expr.Compile("has(object.spec) && object.spec.replicas == 3", expr.Object)
	got := Why(x, expr.Vars{"object": deploy, "old": nil}, Subject{})
	if got.Field != "object.spec.replicas" || got.Saw != "2" || got.Depth != 1 {
		t.Errorf("got %+v", got)
	}
}

// Whatever an author writes, a check that does not pass has a reason.
func FuzzWhy(f *testing.F) {
	for _, seed := range []string{
		"object.spec.replicas == 3 && has(object.a.b)", "object.l.exists(x, x.y == 1) || !object.m.all(k, v, v in [1])",
		"object.?a[?'b'].orValue(1) > 2 ? true : cel.bind(x, object.a, x.b)", "object.a.map(x, x.b).filter(y, y).size() == 0",
		"object.metadata.finalizers.exists_one(f, f.startsWith('a')) && int(object.data.n) == old.x[1]",
		"object.spec.template.spec.containers.transformList(i, c, c.name)[0] == ''", "optional.of(object).hasValue() && type(object) == map",
	} {
		f.Add(seed)
	}
	vars := expr.Vars{"object": deploy, "old": fin}
	f.Fuzz(func(t *testing.T, source string) {
		x, err := expr.Compile(source, expr.Object)
		if err != nil {
			return
		}
		for _, v := range []expr.Vars{vars, {"object": fin, "old": nil}, {"object": nil, "old": nil}} {
			ok, err := x.Eval(v)
			reason := Why(x, v, Subject{Object: "Deployment web"})
			if (reason.Text == "") != (ok && err == nil) {
				t.Fatalf("%s is %v, %v, because %q", source, ok, err, reason.Text)
			}
		}
	})
}
