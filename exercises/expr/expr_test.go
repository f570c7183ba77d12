package expr

import (
	"errors"
	"strings"
	"sync"
	"testing"
)

type object = map[string]any

func TestCompile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source string
		kind   Kind
		with   []string
		want   string // the error; empty: none
	}{
		{"object.spec.replicas == 3 && old == null", Object, nil, ""},
		{"objects.all(o, pods.exists(p, p == o))", Objects, []string{"pods"}, ""},
		{"versions.size() + deletions.size() > 1 && events.all(e, e.type == 'ADDED')", History, nil, ""},
		{"request.query.watch == '1' && request.status.code == 200 && requests.exists(r, r.body.x == 1)", Request, nil, ""},
		{"answer.matches('^[0-9]+$') && int(answer) == pods.size()", Answer, []string{"pods"}, ""},
		{"result.all(r, r.ok) && result[0].object.spec.size == 3", Probe, nil, ""},
		{"object.status.phase == 'Running'", Wait, nil, ""},
		{"quantity(object.spec.size).isGreaterThan(quantity('1Gi'))", Object, nil, ""},
		{"object.?spec.?replicas.orValue(1) == 1 && object.data[?'a'].hasValue()", Object, nil, ""},
		{"cel.bind(a, object.a, a == a) && object.l.exists(i, v, v == i) && sets.contains([1], [1])", Object, nil, ""},
		{"object.a.find('[0-9]+') == '1' && object.b.split(',')[0] == 'x' && isURL(object.c)", Object, nil, ""},

		{"object.spec.replicas ==", Object, nil, "Syntax error: mismatched input '<EOF>'"},
		{"objects.size() == 1", Object, nil, "undeclared reference to 'objects'"},
		{"answer == 3", Answer, nil, "found no matching overload for '_==_' applied to '(string, int)'"},
		{"answer", Answer, nil, "it is of type string; must be bool"},
		{"request.verbs == 'x'", Request, nil, "undefined field 'verbs'"},
		{"request.status == 200", Request, nil, "found no matching overload"},
		{"requests.exists(r, r.status.kode == 1)", Request, nil, "undefined field 'kode'"},
		{"result[0].okay", Probe, nil, "undefined field 'okay'"},
		{"events[0].typ == ''", History, nil, "undefined field 'typ'"},
		{"object.a.matches('(')", Object, nil, "invalid matches argument"},
		{"object.a == duration('5')", Object, nil, "invalid duration argument"},
		{strings.Repeat("true && ", 2000) + "true", Object, nil, "the expression has 16004 characters; at most 8192 are allowed"},
		{strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200), Object, nil, "recursion"},
		{"true", "nonsense", nil, "no such kind of expression"},
	} {
		_, err := Compile(tt.source, tt.kind, tt.with...)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.source, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%.60s: got %v; want %s", tt.source, err, tt.want)
		}
	}
}

func TestIssuesHaveTheirPlaces(t *testing.T) {
	t.Parallel()
	_, err := Compile("object.a == 1 &&\n  objekt.b == 2 &&\n  objects.c == 3", Object)
	var compile *CompileError
	if !errors.As(err, &compile) || len(compile.Issues) != 2 {
		t.Fatalf("%v", err)
	}
	if a, b := compile.Issues[0], compile.Issues[1]; a.Line != 2 || a.Column != 3 || b.Line != 3 {
		t.Errorf("%+v", compile.Issues)
	}
}

func TestEval(t *testing.T) {
	t.Parallel()
	request := object{"verb": "get", "query": object{"a": "1"}, "status": object{"code": int64(200)}, "body": nil, "fieldManager": ""}
	for _, tt := range []struct {
		source string
		kind   Kind
		vars   Vars
		want   bool
		err    string
	}{
		{"object.spec.replicas == 2.0", Object, Vars{"object": object{"spec": object{"replicas": int64(2)}}}, true, ""},
		{"has(object.data)", Object, Vars{"object": nil}, false, ""},
		{"!has(object.data)", Object, Vars{"object": nil}, true, ""},
		{"!has(object.metadata.x)", Object, Vars{"object": nil}, false, "no such key: metadata"},
		{"object.spec.x == 1", Object, Vars{"object": object{"spec": object{}}}, false, "no such key: x"},
		{"object.spec", Object, Vars{"object": object{"spec": object{}}}, false, "the expression is map, not true or false"},
		{"has(request.body) || has(request.fieldManager)", Request, Vars{"request": request}, false, ""},
		{"request.query[?'b'].orValue('') == '' && request.status.code == 200", Request, Vars{"request": request, "requests": []any{}}, true, ""},
		{"requests.exists(r, r.verb == 'get')", Request, Vars{"request": request, "requests": []any{request}}, true, ""},
	} {
		x, err := Compile(tt.source, tt.kind)
		if err != nil {
			t.Fatal(err)
		}
		got, err := x.Eval(tt.vars)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("%s = %v, %v; want %v, %s", tt.source, got, err, tt.want, tt.err)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	list := make([]any, 2000)
	for i := range list {
		list[i] = int64(i)
	}
	x, err := Compile("objects.all(a, objects.all(b, objects.all(c, a + b + c >= 0)))", Objects)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Eval(Vars{"objects": list}); !errors.Is(err, ErrLimit) {
		t.Errorf("got %v", err)
	}
}

// Expressions are shared by sessions.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	x, err := Compile("objects.exists(o, o.a == 1) && object_.size() > 0", Objects, "object_")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if ok, err := x.Eval(Vars{"objects": []any{object{"a": int64(1)}}, "object_": []any{"x"}}); !ok || err != nil {
					t.Errorf("%v, %v", ok, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestWhatAnExpressionNames(t *testing.T) {
	t.Parallel()
	x, err := Compile("request.body.spec.size == 1 && has(request.response.kind)", Request)
	if err != nil {
		t.Fatal(err)
	}
	if !x.Uses("request") || x.Uses("requests") || x.Uses("body") {
		t.Error("variables")
	}
	if !x.Selects("body") || !x.Selects("response") || x.Selects("events") {
		t.Error("fields")
	}
	if !Reserved("object") || !Reserved("in") || Reserved("pods") {
		t.Error("reserved words")
	}
}

func TestKstatus(t *testing.T) {
	t.Parallel()
	lamp := func(generation, observed int64, conditions ...any) object {
		return object{
			"apiVersion": "example.com/v1", "kind": "Lamp", "metadata": object{"name": "l", "generation": generation},
			"status": object{"observedGeneration": observed, "conditions": conditions},
		}
	}
	ready := object{"type": "Ready", "status": "True"}
	for _, tt := range []struct {
		of   any
		want string
	}{
		{nil, "NotFound"},
		{lamp(2, 2, ready), "Current"},
		{lamp(2, 1, ready), "InProgress"},
		{lamp(2, 2, ready, object{"type": "Reconciling", "status": "True"}), "InProgress"},
		{lamp(2, 2, ready, object{"type": "Stalled", "status": "True"}), "Failed"},
	} {
		x, err := Compile("kstatus(object).status == '"+tt.want+"'", Object)
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := x.Eval(Vars{"object": tt.of, "old": nil}); !ok || err != nil {
			t.Errorf("%v: is not %s: %v", tt.of, tt.want, err)
		}
	}
	x, err := Compile(`kstatus({"apiVersion": dyn("v1"), "kind": dyn("Lamp"), "metadata": object.metadata, "status": dyn({"observedGeneration": 1})}).message.contains("generation is 2")`, Object)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := x.Eval(Vars{"object": lamp(2, 2), "old": nil}); !ok || err != nil {
		t.Errorf("of an object that the expression made: %v", err)
	}
}
