package exercises

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// controlled is a file with a controller and without a problem; tests put one into it.
const controlled = `title: Boil
backdrop: kitchen
task: Boil it.
setup: echo own
controllers:
  - name: cook
    says: Nothing is cooked.
    for: kettles.example.com
    namespace: lab
    owns: {pods: pods}
    with: {stoves: {resource: nodes}}
    stages:
      - name: cleaning
        deleting: true
        delete: [{from: pods, when: each.metadata.name != ''}]
        finalizers: {remove: [example.com/hold]}
      - name: on
        when: object.spec.on
        delay: 2s
        finalizers: {add: [example.com/hold]}
        apply:
          - each: lists.range(2)
            manifest: [{apiVersion: v1, kind: Pod}, '${object.spec.template}', {metadata: {name: 'p-${each}'}}]
          - manifest: {apiVersion: v1, kind: Secret, metadata: {name: s}}
            when: stoves.size() > 0
            owner: false
        patch: {metadata: {labels: {on: 'yes'}}}
        status: {pods: '${pods.size()}', at: '${now}'}
        event: {reason: On, message: 'it is ${object.metadata.name}'}
      - name: off
checks:
  - id: on
    says: It is on
    object: {resource: kettles.example.com, namespace: lab, name: a}
    expect: object.spec.on
solution: 'true'
wrong:
  - {name: nothing, run: 'true', stays: [on]}
`

const kitchen = `setup: |
  echo backdrop
controllers:
  - {name: stove, says: No fire., for: stoves.example.com, stages: [{name: any, status: {phase: On}}]}
`

func TestControllers(t *testing.T) {
	t.Parallel()
	set, problems := load(t, map[string]string{"api/boil.yaml": controlled, "api/backdrops/kitchen.yaml": kitchen})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	e, _ := set.Get("api/boil")
	if e.Setup != "echo backdrop\necho own" || len(e.Controllers) != 2 || e.Controllers[0].Name != "stove" || e.Scene() == nil {
		t.Fatalf("%+v", e)
	}
	c := e.Controllers[1]
	on := c.Stages[1]
	if on.Condition() == nil || on.Delay != 2*time.Second || on.PatchTemplate() == nil || on.StatusTemplate() == nil || c.Stages[0].Delete[0].Condition() == nil {
		t.Errorf("%+v", on)
	}
	if a := on.Apply[0]; a.Elements() == nil || a.Condition() != nil || len(a.Manifests()) != 3 || !a.Owned() || on.Apply[1].Owned() {
		t.Errorf("%+v", a)
	}
	if reason, message := on.Event.Templates(); reason == nil || message == nil || c.Stages[2].Condition() != nil {
		t.Error("the event has no templates")
	}
}

func TestProblemsOfControllers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ old, new, want string }{
		{"backdrop: kitchen", "backdrop: kitchn", `:2: there is no backdrop "kitchn"; did you mean "kitchen"?`},
		{"backdrop: kitchen", "backdrop: aquarium", `:2: there is no backdrop "aquarium": its file would be api/backdrops/aquarium.yaml`},
		{"name: cook\n    says: Nothing is cooked.\n    for: kettles", "name: stove\n    says: S\n    for: stoves", `:2: the controller "stove" for stoves.example.com is in the backdrop "kitchen" as well`},
		{"name: cook", "name: ''", ":6: controllers[0].name is missing"},
		{"name: cook", "name: the cook", `:6: controllers[0].name is "the cook"; must be of letters`},
		{"says: Nothing is cooked.", "says: ''", ":7: controllers[0].says is missing"},
		{"for: kettles.example.com", "for: Kettle", `:8: controllers[0].for is "Kettle"; must be a plural`},
		{"    for: kettles.example.com\n", "", ":6: controllers[0].for is missing"},
		{"namespace: lab\n    owns", "selector: 'a in b'\n    owns", ":9: controllers[0].selector: "},
		{"owns: {pods: pods}", "owns: {object: pods}", ":10: controllers[0].owns.object: the name is taken"},
		{"with: {stoves: {resource: nodes}}", "with: {stoves: {resource: nodes}, pods: {resource: nodes}}", ":11: controllers[0].with.pods: owns has a variable of that name"},
		{"name: cleaning", "when: 'true'", ":13: controllers[0].stages[0].name is missing"},
		{"from: pods,", "from: pod,", `:15: controllers[0].stages[0].delete[0].from names a variable "pod" that does not exist; did you mean "pods"?`},
		{"finalizers: {remove: [example.com/hold]}", "finalizers: {add: [example.com/hold]}", ":16: controllers[0].stages[0].finalizers.add: the API server takes no new"},
		{"finalizers: {add: [example.com/hold]}", "finalizers: {add: [the hold]}", `:20: controllers[0].stages[1].finalizers: "the hold" is no name of a finalizer`},
		{"        when: object.spec.on\n", "", `:29: controllers[0].stages[2] is never reached: the stage "on" before it has no when`},
		{"when: object.spec.on", "when: each.spec.on", ":18: controllers[0].stages[1].when: there is no each here"},
		{"when: object.spec.on", "when: objekt.spec.on", ":18: controllers[0].stages[1].when: CEL: undeclared reference to 'objekt'"},
		{"delay: 2s", "delay: 2m", ":19: controllers[0].stages[1].delay is 2m0s; at most 1m0s"},
		{"kind: Secret, ", "", ":24: controllers[0].stages[1].apply[1].manifest has no kind"},
		{"metadata: {name: s}", "metadata: {name: 's-${each}'}", ":24: controllers[0].stages[1].apply[1].manifest: there is no each here"},
		{"manifest: {apiVersion: v1, kind: Secret, metadata: {name: s}}", "manifest: 3", ":24: controllers[0].stages[1].apply[1].manifest must be an object"},
		{"- manifest: {apiVersion: v1, kind: Secret, metadata: {name: s}}\n            when:", "- when:", ":24: controllers[0].stages[1].apply[1] has no manifest"},
		{"pods: '${pods.size()}'", "pods: '${pods.sice()}'", ":28: controllers[0].stages[1].status.pods: CEL: undeclared reference to 'sice'"},
		{"at: '${now}'", "at: '${now'", ":28: controllers[0].stages[1].status.at: a ${ is not closed"},
		{"patch: {metadata:", "patch: {status: {}, metadata:", ":27: controllers[0].stages[1].patch does not write status"},
		{"reason: On", "reason: ''", ":29: controllers[0].stages[1].event.reason is missing"},
		{"event: {", "event: {type: Bad, ", `:29: controllers[0].stages[1].event.type is "Bad"; must be one of Normal, Warning`},
		{"- name: off", "- name: off\n        event: {reason: A, message: B}", ":31: controllers[0].stages[2] has nothing but an event"},
		{"- name: off", "- name: off\n        aply: []", `:31: unknown field "aply" in controllers[0].stages[2]; did you mean "apply"?`},
	} {
		t.Run(tt.new, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(controlled, tt.old, tt.new, 1)
			if text == controlled {
				t.Fatalf("the text has no %q", tt.old)
			}
			_, problems := load(t, map[string]string{"api/boil.yaml": text, "api/backdrops/kitchen.yaml": kitchen})
			if len(problems) != 1 || !strings.HasPrefix(problems[0], "api/boil.yaml"+tt.want) {
				t.Errorf("want %q, got\n%s", tt.want, strings.Join(problems, "\n"))
			}
		})
	}
}

func TestBackdropsWithProblems(t *testing.T) {
	t.Parallel()
	set, problems := load(t, map[string]string{
		"api/boil.yaml":              controlled,
		"api/backdrops/kitchen.yaml": kitchen + "setups: 'true'\n",
		"api/backdrops/empty.yaml":   "",
		"api/backdrops/Bad.yaml":     kitchen,
		"api/backdrops/shell.yaml":   "setup: if\n",
	})
	want := []string{
		"api/backdrops/Bad.yaml: an exercise's file is <track>/<name>.yaml, of lower-case letters, digits and hyphens",
		"api/backdrops/empty.yaml: the file is empty",
		`api/backdrops/kitchen.yaml:5: unknown field "setups" in the backdrop; did you mean "setup"?`,
		"api/backdrops/shell.yaml:1: setup: shell: `if` must be followed by a statement list",
		`api/boil.yaml:2: the backdrop "kitchen" has problems`,
	}
	if !slices.Equal(problems, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(problems, "\n"), strings.Join(want, "\n"))
	}
	if len(set.All()) != 0 {
		t.Error("an exercise without its backdrop is in the set")
	}
}
