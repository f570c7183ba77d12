package exercises

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/apilab/apilab/exercises/expr"
)

// check looks at one check and compiles its expressions.
func (v *validator) check(at string, c *Check) {
	v.required(at+".says", c.Says)
	if strings.Contains(strings.TrimSpace(c.Says), "\n") {
		v.say(at+".says", "%s.says must be one line", at)
	}
	v.oneOf(at+".mode", string(c.Mode), string(Once), string(Holds))
	switch kinds := c.kinds(); len(kinds) {
	case 0:
		v.say(at, "%s has no kind: give it one of object, objects, history, request, answer, choice, probe", at)
		return
	case 1:
	default:
		v.say(at, "%s has several kinds (%s): a check has one", at, strings.Join(kinds, ", "))
		return
	}
	switch {
	case c.Object != nil:
		v.objectRef(at+".object", *c.Object)
	case c.Objects != nil:
		v.objectsRef(at+".objects", *c.Objects, true)
	case c.History != nil:
		v.resource(at+".history.resource", c.History.Resource)
		v.namespace(at+".history.namespace", c.History.Namespace)
	case c.Request != nil:
		v.request(at+".request", *c.Request)
	case c.Answer != nil:
		v.required(at+".answer.prompt", c.Answer.Prompt)
		v.with(at+".answer.with", c.Answer.With)
	case c.Choice != nil:
		v.choice(at+".choice", *c.Choice)
	case c.Probe != nil:
		v.probe(at+".probe", c)
	}
	v.expressions(at, c)
}

// variablesOf are those of which an expectation must use one, to say anything of what its kind looks at.
var variablesOf = map[string][]string{
	"object":  {"object", "old"},
	"objects": {"objects"},
	"history": {"versions", "deletions", "events"},
	"request": {"request", "requests"},
	"answer":  {"answer"},
}

func (v *validator) expressions(at string, c *Check) {
	with := slices.Collect(maps.Keys(c.With()))
	kind := expr.Kind(c.Kind())
	switch {
	case c.Choice != nil:
		if c.Expect != "" {
			v.say(at+".expect", "%s.expect: a choice has none, its right option decides", at)
		}
		for i, h := range c.Hints {
			if h.When != "" {
				v.say(fmt.Sprintf("%s.hints[%d].when", at, i), "%s.hints[%d].when: hints of a choice have no condition: say it in the option's why", at, i)
			}
		}
	case c.Probe != nil && c.Expect == "": // all steps went as they should
	case strings.TrimSpace(c.Expect) == "":
		v.say(at, "%s has no expect", at)
	default:
		c.expect = v.compile(at+".expect", c.Expect, kind, with)
		if used := variablesOf[c.Kind()]; c.expect != nil && len(used) > 0 && !slices.ContainsFunc(append(used, with...), c.expect.Uses) {
			v.say(at+".expect", "%s.expect uses none of %s: it says nothing of them", at, strings.Join(used, ", "))
		}
	}
	for i := range c.Hints {
		h := &c.Hints[i]
		hint := fmt.Sprintf("%s.hints[%d]", at, i)
		v.required(hint+".say", h.Say)
		if h.When != "" && c.Choice == nil {
			h.when = v.compile(hint+".when", h.When, kind, with)
		}
	}
}

func (v *validator) compile(path, source string, kind expr.Kind, with []string) *expr.Expression {
	x, err := expr.Compile(source, kind, with...)
	if err == nil {
		return x
	}
	issues := []expr.Issue{{Line: 1, Message: err.Error()}}
	if e, ok := err.(*expr.CompileError); ok {
		issues = e.Issues
	}
	for _, issue := range issues {
		v.problems = append(v.problems, Problem{Line: v.inside(path, issue.Line), Message: fmt.Sprintf("%s: CEL: %s", path, issue.Message)})
	}
	return nil
}

func (v *validator) objectRef(path string, r ObjectRef) {
	v.resource(path+".resource", r.Resource)
	v.namespace(path+".namespace", r.Namespace)
	v.required(path+".name", r.Name)
}

func (v *validator) objectsRef(path string, r ObjectsRef, withAllowed bool) {
	v.resource(path+".resource", r.Resource)
	v.namespace(path+".namespace", r.Namespace)
	if _, err := labels.Parse(r.Selector); err != nil {
		v.say(path+".selector", "%s.selector: %v", path, err)
	}
	if len(r.With) > 0 && !withAllowed {
		v.say(path+".with", "%s.with: only the check itself has it", path)
		return
	}
	v.with(path+".with", r.With)
}

var variableName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`)

func (v *validator) with(path string, with map[string]ObjectsRef) {
	for name, r := range with {
		at := join(path, name)
		v.variable(at, name)
		v.objectsRef(at, r, false)
	}
}

func (v *validator) variable(at, name string) {
	switch {
	case !variableName.MatchString(name):
		v.say(at, "%s: the name of a variable is of letters, digits and underscores", at)
	case expr.Reserved(name):
		v.say(at, "%s: the name is taken: choose another, such as %ss", at, name)
	}
}

var resourceName = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

func (v *validator) resource(path, name string) {
	switch {
	case name == "":
		v.say(path, "%s is missing", path)
	case !resourceName.MatchString(name):
		v.say(path, "%s is %q; must be a plural, with its group where it has one, such as pods or deployments.apps", path, name)
	}
}

func (v *validator) namespace(path, name string) {
	if name != "" && len(validation.IsDNS1123Label(name)) > 0 {
		v.say(path, "%s is %q, which is no name of a namespace", path, name)
	}
}

func (v *validator) request(path string, r RequestRef) {
	if r.Path != "" && (r.Resource != "" || r.Subresource != "" || r.Name != "" || r.Namespace != "") {
		v.say(path+".path", "%s.path is for what is no resource: leave it out, or resource, subresource, namespace and name", path)
	}
	if r.Path != "" && !strings.HasPrefix(r.Path, "/") {
		v.say(path+".path", "%s.path must begin with /", path)
	}
	if strings.Contains(r.Resource, "/") {
		v.say(path+".resource", "%s.resource is %q; put what follows the / into subresource", path, r.Resource)
	}
}

func (v *validator) choice(path string, c Choice) {
	v.required(path+".prompt", c.Prompt)
	if len(c.Options) < 2 {
		v.say(path, "%s has %d options; at least 2 are a choice", path, len(c.Options))
	}
	right, ids := 0, []string{}
	for i, o := range c.Options {
		at := fmt.Sprintf("%s.options[%d]", path, i)
		v.required(at+".id", o.ID)
		v.required(at+".text", o.Text)
		v.required(at+".why", o.Why)
		if slices.Contains(ids, o.ID) {
			v.say(at+".id", "two options have the id %q", o.ID)
		}
		ids = append(ids, o.ID)
		if o.Right {
			right++
		}
	}
	if right != 1 {
		v.say(path+".options", "%s has %d right options; exactly one must be right", path, right)
	}
}

func (v *validator) probe(path string, c *Check) {
	if len(c.Probe.After) == 0 && len(c.Needs) == 0 {
		v.say(path, "%s: say when to probe: after which objects, or give the check needs", path)
	}
	for i, r := range c.Probe.After {
		v.objectsRef(fmt.Sprintf("%s.after[%d]", path, i), r, false)
	}
	if len(c.Probe.Steps) == 0 {
		v.say(path, "%s has no steps", path)
	}
	for i := range c.Probe.Steps {
		v.step(fmt.Sprintf("%s.steps[%d]", path, i), &c.Probe.Steps[i])
	}
}

// MaxWait bounds a probe's wait step.
const MaxWait = 60 * time.Second

func (v *validator) step(path string, s *Step) {
	verbs := s.verbs()
	if len(verbs) != 1 {
		v.say(path, "%s has %d verbs; a step has exactly one of create, apply, patch, delete, wait, observe", path, len(verbs))
		return
	}
	switch {
	case s.Create != nil:
		v.manifest(path+".create", s.Create, true)
	case s.Apply != nil:
		v.manifest(path+".apply", s.Apply, false)
	case s.Patch != nil:
		v.objectRef(path+".patch", s.Patch.ObjectRef)
		v.oneOf(path+".patch.type", s.Patch.Type, "", "merge", "json", "strategic")
		if s.Patch.Body == nil {
			v.say(path+".patch", "%s.patch has no body", path)
		}
		if _, list := s.Patch.Body.([]any); list != (s.Patch.Type == "json") && s.Patch.Body != nil {
			v.say(path+".patch.body", "%s.patch.body: a json patch is a list of operations, any other is an object", path)
		}
	case s.Delete != nil:
		v.objectRef(path+".delete", *s.Delete)
	case s.Observe != nil:
		v.observe(path, s)
	case s.Wait != nil:
		v.objectRef(path+".wait", s.Wait.ObjectRef)
		v.required(path+".wait.expect", s.Wait.Expect)
		if s.Wait.Within < 0 || s.Wait.Within > MaxWait {
			v.say(path+".wait.within", "%s.wait.within is %s; at most %s", path, s.Wait.Within, MaxWait)
		}
		if s.Wait.Expect != "" {
			s.Wait.expect = v.compile(path+".wait.expect", s.Wait.Expect, expr.Wait, nil)
		}
		if s.DryRun || s.Refused {
			v.say(path, "%s: dryRun and refused are not for wait", path)
		}
	}
}

func (v *validator) observe(path string, s *Step) {
	if s.Observe.For <= 0 || s.Observe.For > MaxWait {
		v.say(path+".observe", "%s.observe.for is %s; more than nothing and at most %s", path, s.Observe.For, MaxWait)
	}
	if s.DryRun || s.Refused {
		v.say(path, "%s: dryRun and refused are not for observe", path)
	}
}

func (v *validator) manifest(path string, m map[string]any, mayGenerate bool) {
	metadata, _ := m["metadata"].(map[string]any)
	for _, field := range []string{"apiVersion", "kind"} {
		if s, _ := m[field].(string); s == "" {
			v.say(path, "%s has no %s", path, field)
		}
	}
	name, _ := metadata["name"].(string)
	generate, _ := metadata["generateName"].(string)
	if kind, _ := m["kind"].(string); mayGenerate && strings.HasSuffix(kind, "Review") {
		return // a question to the API server, never stored: it must not have a name
	}
	if name == "" && (generate == "" || !mayGenerate) {
		v.say(path, "%s has no metadata.name", path)
	}
}

// verbs returns the verbs that the step has: exactly one, if it is valid.
func (s *Step) verbs() []string {
	var verbs []string
	for _, verb := range []struct {
		name string
		set  bool
	}{
		{"create", s.Create != nil}, {"apply", s.Apply != nil}, {"patch", s.Patch != nil},
		{"delete", s.Delete != nil}, {"wait", s.Wait != nil}, {"observe", s.Observe != nil},
	} {
		if verb.set {
			verbs = append(verbs, verb.name)
		}
	}
	return verbs
}

// Verb returns what the step does: create, apply, patch, delete, wait or observe.
func (s *Step) Verb() string { return s.verbs()[0] }
