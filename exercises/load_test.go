package exercises

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// valid is a file without a problem; tests put one into it.
const valid = `title: Hold a deletion
needs: []
cluster: {backend: any, nodes: simulated}
setup: |
  kubectl create namespace lab
task: |
  Hold it.
checks:
  - id: held
    says: It is held
    object: {resource: configmaps, namespace: lab, name: fin}
    expect: has(object.metadata.deletionTimestamp)
    hints:
      - {when: object == null, say: It is gone.}
      - say: Look.
  - id: gone
    needs: [held]
    says: It is gone
    object: {resource: configmaps, namespace: lab, name: fin}
    expect: object == null
  - id: listed
    says: Pods of it
    objects: {resource: pods, namespace: lab, selector: app=x, with: {maps: {resource: configmaps}}}
    expect: objects.size() == maps.size()
  - id: moved
    says: It moved
    history: {resource: deployments.apps, namespace: lab}
    expect: events.size() > 1
  - id: asked
    says: You asked
    request: {verb: watch, resource: pods}
    expect: request.status.code == 410
  - id: version
    says: You know it
    answer: {prompt: 'Which?', with: {spaces: {resource: namespaces}}}
    expect: spaces.exists(s, s.metadata.resourceVersion == answer)
  - id: why
    says: You know why
    choice:
      prompt: 'Why?'
      options:
        - {id: a, text: A, right: true, why: Because.}
        - {id: b, text: B, why: No.}
  - id: probed
    says: It refuses
    probe:
      after: [{resource: customresourcedefinitions.apiextensions.k8s.io, name: w}]
      steps:
        - create: {apiVersion: x/v1, kind: W, metadata: {name: w}, spec: {size: 50}}
          dryRun: true
          refused: true
        - wait: {resource: pods, namespace: lab, name: p, expect: object == null, within: 5s}
    expect: result[0].reason == 'Invalid'
solution: |
  kubectl create configmap fin -n lab
answers: {version: $(kubectl get ns lab -o name)}
wrong:
  - {name: nothing, run: 'true', answers: {why: b}, stays: [held, why]}
`

func load(t *testing.T, files map[string]string) (*Set, []string) {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	set, problems := Load(fsys)
	var said []string
	for _, p := range problems {
		said = append(said, p.String())
	}
	return set, said
}

func TestLoad(t *testing.T) {
	t.Parallel()
	set, problems := load(t, map[string]string{"api/hold.yaml": valid, "api/README.md": "no exercise", "schema.json": "{}"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	e, ok := set.Get("api/hold")
	if !ok || len(set.All()) != 1 || e.Title != "Hold a deletion" || len(e.Checks) != 8 {
		t.Fatalf("%+v", e)
	}
	var kinds, modes []string
	for i := range e.Checks {
		kinds, modes = append(kinds, e.Checks[i].Kind()), append(modes, string(e.Checks[i].Mode))
	}
	if !slices.Equal(kinds, []string{"object", "object", "objects", "history", "request", "answer", "choice", "probe"}) {
		t.Errorf("kinds %v", kinds)
	}
	// A check that another needs is a stage that was reached; the last state of an object holds or does not.
	if !slices.Equal(modes, []string{"once", "holds", "holds", "once", "once", "once", "once", "once"}) {
		t.Errorf("modes %v", modes)
	}
	if e.Check("held").Hints[0].Condition() == nil || e.Check("held").Hints[1].Condition() != nil || e.Check("why").Expression() != nil {
		t.Error("expressions are not compiled as they are written")
	}
	if step := e.Check("probed").Probe.Steps[1].Wait; step.Within != 5*time.Second || step.Expression() == nil {
		t.Errorf("wait %+v", step)
	}
	if size := e.Check("probed").Probe.Steps[0].Create["spec"].(map[string]any)["size"]; size != int64(50) {
		t.Errorf("a number is %T", size)
	}
	if e.Check("why").RightOption().ID != "a" || e.Check("nil") != nil {
		t.Error("lookups")
	}
}

// Each mistake is told once, at its line.
func TestProblems(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ old, new, want string }{
		{"title: Hold a deletion", "titel: x", `1: unknown field "titel" in the exercise; did you mean "title"?`},
		{"title: Hold a deletion", "title: ''", "1: title is missing"},
		{"task: |\n  Hold it.", "task:\n  - a", "7: task must be text, not a list"},
		{"needs: []", "needs: none", `2: needs must be a list, not "none"`},
		{"needs: []", "needs: [api/hold]", "2: the exercise needs itself"},
		{"needs: []", "needs: [api/hodl]", `2: needs an exercise "api/hodl" that does not exist; did you mean "api/hold"?`},
		{"needs: []", "title: again", `2: "title" is set twice in the exercise, first in line 1`},
		{"needs: []", "needs: [", "4: YAML: found character that cannot start any token"},
		{"needs: []", "needs: !!binary [x]", "2: the file"},
		{"backend: any, nodes: simulated", "backend: embedded, nodes: real", "3: cluster.nodes is real, which nodes of the embedded backend are not"},
		{"backend: any", "backend: docker", `3: cluster.backend is "docker"; must be one of any, embedded, kind`},
		{"kubectl create namespace lab", "kubectl create (namespace", "5: setup: shell: "},
		{"solution: |", "program: ../operator\nsolution: |", "program begins with the name of a program, without a folder"},
		{"  kubectl create configmap fin -n lab", "  true\n  if x; then", ": solution: shell: "},
		{"id: gone", "id: held", `16: two checks have the id "held"`},
		{"id: gone", "id: Gone", `16: the id "Gone" must be of lower-case letters, digits and hyphens`},
		{"id: gone", "name: gone", `16: unknown field "name" in checks[1]`},
		{"    needs: [held]", "    needs: [hold]", `17: needs a check "hold" that does not exist; did you mean "held"?`},
		{"    says: It is held\n", "    says: It is held\n    needs: [gone]\n", "checks need each other: held → gone → held"},
		{"says: It is held", "says: \"a\\nb\"", "10: checks[0].says must be one line"},
		{"says: It is held", "says: x\n    mode: always", `11: checks[0].mode is "always"; must be one of once, holds`},
		{"object: {resource: configmaps, namespace: lab, name: fin}\n    expect: has", "expect: has", "9: checks[0] has no kind"},
		{"object: {resource: configmaps, namespace: lab, name: fin}\n    expect: has", "objekt: {}\n    expect: has", `11: unknown field "objekt" in checks[0]; did you mean "object"?`},
		{"    says: It moved", "    says: x\n    request: {}", "25: checks[3] has several kinds (history, request): a check has one"},
		{"configmaps, namespace: lab, name: fin}\n    expect: has", "ConfigMap, namespace: lab, name: fin}\n    expect: has", `11: checks[0].object.resource is "ConfigMap"; must be a plural`},
		{"configmaps, namespace: lab, name: fin}\n    expect: has", "configmaps, namespace: Lab, name: fin}\n    expect: has", `11: checks[0].object.namespace is "Lab", which is no name of a namespace`},
		{", name: fin}\n    expect: has", "}\n    expect: has", "11: checks[0].object.name is missing"},
		{"has(object.metadata.deletionTimestamp)", "has(object.metadata.deletionTimestamp", "12: checks[0].expect: CEL: Syntax error"},
		{"has(object.metadata.deletionTimestamp)", "|\n      object != null &&\n      objekt.x == 1", "14: checks[0].expect: CEL: undeclared reference to 'objekt'"},
		{"has(object.metadata.deletionTimestamp)", "size('x')", "12: checks[0].expect: CEL: it is of type int; must be bool"},
		{"has(object.metadata.deletionTimestamp)", "1 == 1", "12: checks[0].expect uses none of object, old: it says nothing of them"},
		{"has(object.metadata.deletionTimestamp)", "!has(object.metadata.x)", `12: checks[0].expect begins with "!has(object.metadata.x)", which YAML takes for a tag: put it in quotes`},
		{"    expect: has(object.metadata.deletionTimestamp)\n", "", "9: checks[0] has no expect"},
		{"object == null, say", "objct == null, say", "14: checks[0].hints[0].when: CEL: undeclared reference to 'objct'"},
		{"say: It is gone.", "say: ''", "14: checks[0].hints[0].say is missing"},
		{"selector: app=x", "selector: 'app in x'", "23: checks[2].objects.selector: "},
		{"with: {maps: {", "with: {object: {", "23: checks[2].objects.with.object: the name is taken"},
		{"with: {maps: {", "with: {a-b: {", "23: checks[2].objects.with.a-b: the name of a variable is of letters, digits and underscores"},
		{"maps: {resource: configmaps}", "maps: {resource: configmaps, with: {a: {resource: pods}}}", "only the check itself has it"},
		{"request.status.code == 410", "request.status.cod == 410", "32: checks[4].expect: CEL: undefined field 'cod'"},
		{"request: {verb: watch, resource: pods}", "request: {path: /api, resource: pods}", "31: checks[4].request.path is for what is no resource"},
		{"resource: pods}\n    expect: req", "resource: pods/status}\n    expect: req", `31: checks[4].request.resource is "pods/status"; put what follows the / into subresource`},
		{"answers: {version", "answers: {verson", `unknown`},
		{"right: true, ", "", "42: checks[6].choice has 0 right options; exactly one must be right"},
		{"{id: b, text: B, why: No.}", "{id: b, text: B, right: true, why: No.}", "42: checks[6].choice has 2 right options"},
		{"{id: b, text: B, why: No.}", "{id: a, text: B, why: No.}", `43: two options have the id "a"`},
		{"        - {id: b, text: B, why: No.}\n", "", "40: checks[6].choice has 1 options; at least 2 are a choice"},
		{"    choice:\n", "    expect: answer == ''\n    choice:\n", "39: checks[6].expect: a choice has none"},
		{"      after: [{resource: customresourcedefinitions.apiextensions.k8s.io, name: w}]\n", "", "47: checks[7].probe: say when to probe"},
		{"dryRun: true", "delete: {resource: pods, name: x}", "49: checks[7].probe.steps[0] has 2 verbs"},
		{"dryRun: true", "dryRun: yes", `50: checks[7].probe.steps[0].dryRun must be true or false, not "yes"`},
		{"metadata: {name: w}", "metadata: {}", "49: checks[7].probe.steps[0].create has no metadata.name"},
		{"within: 5s", "within: 5", `52: checks[7].probe.steps[1].wait.within must be a time with its unit, such as 5s, not "5"`},
		{"within: 5s", "within: 2m", "52: checks[7].probe.steps[1].wait.within is 2m0s; at most 1m0s"},
		{"expect: object == null, within", "expect: objects == null, within", "52: checks[7].probe.steps[1].wait.expect: CEL: undeclared reference to 'objects'"},
		{"result[0].reason", "result[0].reasn", "53: checks[7].expect: CEL: undefined field 'reasn'"},
		{"solution: |\n  kubectl create configmap fin -n lab", "solution: ''", "54: the exercise has no solution"},
		{"answers: {version: $(kubectl get ns lab -o name)}", "answers: {}", `33: answers has no right answer to the check "version"`},
		{"answers: {version:", "answers: {why: b, version:", `56: the right option of the check "why" is "a", not "b"`},
		{"answers: {version:", "answers: {why: c, version:", `56: "c" is no option of the check "why"`},
		{"answers: {version:", "answers: {held: c, version:", `56: the check "held" takes no answer: it is of kind object`},
		{"wrong:\n  - {name: nothing, run: 'true', answers: {why: b}, stays: [held, why]}\n", "", "1: the exercise has no wrong answer: add at least one under wrong"},
		{"stays: [held, why]", "stays: [hold]", `58: stays names a check "hold" that does not exist; did you mean "held"?`},
		{"stays: [held, why]", "stays: []", "58: wrong[0] has no stays: name the checks that it must not pass"},
		{"run: 'true', answers: {why: b}, ", "", "58: wrong[0] does nothing: give it run, program or answers"},
		{"run: 'true'", "run: |-\n    a (", "could not parse"},
		{"wrong:", "---\nwrong:", "57: a file holds one exercise: remove the second YAML document"},
	} {
		t.Run(tt.new, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(valid, tt.old, tt.new, 1)
			if text == valid {
				t.Fatalf("the text has no %q", tt.old)
			}
			_, problems := load(t, map[string]string{"api/hold.yaml": text})
			all := strings.Join(problems, "\n")
			switch tt.want {
			case "unknown", "could not parse", "2: the file": // some problem or other
				if len(problems) == 0 {
					t.Error("no problem")
				}
				return
			}
			if !slices.ContainsFunc(problems, func(p string) bool {
				after, ok := strings.CutPrefix(p, "api/hold.yaml:")
				return ok && (strings.HasPrefix(after, tt.want) || strings.Contains(after, ": "+strings.TrimPrefix(tt.want, ": ")))
			}) {
				t.Errorf("want %q in\n%s", tt.want, all)
			}
			if len(problems) > 2 { // two, as what is left out may be missed elsewhere
				t.Errorf("one mistake, told as\n%s", all)
			}
		})
	}
}

func TestProblemsAcrossFiles(t *testing.T) {
	t.Parallel()
	in := func(needs string) string { return strings.Replace(valid, "needs: []", "needs: ["+needs+"]", 1) }
	set, problems := load(t, map[string]string{
		"a/one.yaml": in("a/two"), "a/two.yaml": in("a/three"), "a/three.yaml": in("a/one"),
		"a/four.yaml": "title: [", "a/five.yaml": in("a/four"), // that one is there, and has a problem of its own
		"Bad Name.yaml": valid, "a/b/deep.yaml": valid, "a/six.yml": valid, "a/empty.yaml": "", "a/comment.yaml": "# nothing\n",
	})
	want := []string{
		"Bad Name.yaml: an exercise's file is <track>/<name>.yaml, of lower-case letters, digits and hyphens",
		"a/b/deep.yaml: an exercise's file is <track>/<name>.yaml, of lower-case letters, digits and hyphens",
		"a/comment.yaml: the file is empty",
		"a/empty.yaml: the file is empty",
		"a/four.yaml:1: YAML: did not find expected node content",
		"a/one.yaml:2: exercises need each other: a/one → a/two → a/three → a/one",
		"a/six.yml: the name of an exercise's file ends in .yaml",
	}
	if !slices.Equal(problems, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(problems, "\n"), strings.Join(want, "\n"))
	}
	if len(set.All()) != 4 {
		t.Errorf("%d exercises", len(set.All()))
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/a", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", dir+"/a/link.yaml"); err != nil {
		t.Fatal(err)
	}
	large := append([]byte("title: "), make([]byte, maxFile)...)
	if err := os.WriteFile(dir+"/a/large.yaml", large, 0o600); err != nil {
		t.Fatal(err)
	}
	_, problems := Load(os.DirFS(dir))
	want := []Problem{{"a/large.yaml", 0, "the file is larger than 256 KiB"}, {"a/link.yaml", 0, "no such file or directory"}}
	if !slices.Equal(problems, want) {
		t.Errorf("%v", problems)
	}
	_, problems = Load(os.DirFS(dir + "/none"))
	if len(problems) != 1 || problems[0].Message != "no such file or directory" {
		t.Errorf("%v", problems)
	}
}

// A file of a few lines can ask for gigabytes by aliases of aliases.
func TestAliasesAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(valid + "reset: &a0 [x, x]\n")
	for i := range 40 {
		fmt.Fprintf(&b, "x%d: &a%d [*a%d, *a%d]\n", i, i+1, i, i)
	}
	text := strings.Replace(b.String(), "spec: {size: 50}", "spec: &s {size: 50, more: [*s]}", 1)
	if _, problems := load(t, map[string]string{"a/b.yaml": text}); len(problems) == 0 {
		t.Error("no problem")
	}
	anchored := strings.Replace(valid, "object: {resource: configmaps, namespace: lab, name: fin}\n    expect: has", "object: &fin {resource: configmaps, namespace: lab, name: fin}\n    expect: has", 1)
	anchored = strings.Replace(anchored, "    object: {resource: configmaps, namespace: lab, name: fin}\n    expect: object == null", "    object: *fin\n    expect: object == null", 1)
	set, problems := load(t, map[string]string{"a/b.yaml": anchored})
	if e, ok := set.Get("a/b"); !ok || e.Checks[1].Object.Name != "fin" {
		t.Errorf("an alias is not followed: %v", problems)
	}
}

func TestEmbeddedExercisesHaveNoProblem(t *testing.T) {
	t.Parallel()
	set, problems := Load(Embedded())
	for _, p := range problems {
		t.Error(p)
	}
	matches, _ := fs.Glob(Embedded(), "*/*.yaml")
	if len(set.All()) != len(matches) || len(matches) == 0 {
		t.Errorf("%d exercises of %d files", len(set.All()), len(matches))
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("checks: [{id: a, object: {}, expect: '!!x', hints: [{}], probe: {steps: [{create: {a: .inf}}]}}]"))
	f.Add([]byte("? [a]\n: <<: *x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, problems := Parse("a/b", data)
		if (e == nil) != (len(problems) > 0) {
			t.Fatalf("%v and %d problems", e, len(problems))
		}
		lines := strings.Count(string(data), "\n") + 1
		for _, p := range problems {
			if p.Line < 0 || p.Line > lines+1 || p.Message == "" || p.File == "" {
				t.Fatalf("%+v of %d lines", p, lines)
			}
		}
	})
}

func TestBackendThatAnExerciseWants(t *testing.T) {
	t.Parallel()
	for want, clusters := range map[string][]Cluster{
		"":         {{}, {Backend: "any"}, {Nodes: "simulated"}, {Backend: "any", Nodes: "simulated"}},
		"kind":     {{Backend: "kind"}, {Nodes: "real"}, {Backend: "any", Nodes: "real"}},
		"embedded": {{Backend: "embedded"}, {Backend: "embedded", Nodes: "simulated"}},
	} {
		for _, c := range clusters {
			if got := c.Wants(); got != want {
				t.Errorf("%+v wants %q, want %q", c, got, want)
			}
		}
	}
}
