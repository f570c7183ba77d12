package exercises

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/syntax"

	"github.com/apilab/apilab/exercises/spelling"
)

// A validator finds what is wrong in an exercise beyond its YAML. Its problems carry the lines that the decoder saw.
type validator struct {
	*decoder
	exercise *Exercise
}

// line returns the line of a field, or of the nearest thing around it that is there.
func (v *validator) line(path string) int {
	for {
		if node, ok := v.nodes[path]; ok {
			return node.Line
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return 1
		}
		path = path[:i]
	}
}

func (v *validator) say(path, format string, args ...any) {
	v.problems = append(v.problems, Problem{Line: v.line(path), Message: fmt.Sprintf(format, args...)})
}

func (v *validator) validate() {
	e := v.exercise
	v.required("title", e.Title)
	v.required("task", e.Task)
	v.oneOf("cluster.backend", e.Cluster.Backend, "", "any", "embedded", "kind")
	v.oneOf("cluster.nodes", e.Cluster.Nodes, "", "simulated", "real")
	if e.Cluster.Backend == "embedded" && e.Cluster.Nodes == "real" {
		v.say("cluster.nodes", "cluster.nodes is real, which nodes of the embedded backend are not")
	}
	v.shell("setup", e.Setup)
	v.shell("reset", e.Reset)
	v.shell("solution", e.Solution)
	v.program("program", e.Program)
	for i, need := range e.Needs {
		if need == e.ID {
			v.say(fmt.Sprintf("needs[%d]", i), "the exercise needs itself")
		}
	}
	if len(e.Checks) == 0 {
		v.say("checks", "the exercise has no checks")
	}
	v.controllers("controllers", e.Controllers)
	v.checkIDs()
	for i := range e.Checks {
		v.check(fmt.Sprintf("checks[%d]", i), &e.Checks[i])
	}
	v.answers("answers", e.Answers)
	v.solvable()
	v.wrong()
}

var checkID = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// checkIDs looks at the IDs of checks and at how they need each other.
func (v *validator) checkIDs() {
	var ids []string
	edges := map[string][]string{}
	for i, c := range v.exercise.Checks {
		at := fmt.Sprintf("checks[%d].id", i)
		switch {
		case c.ID == "":
			v.say(at, "checks[%d] has no id", i)
		case !checkID.MatchString(c.ID):
			v.say(at, "the id %q must be of lower-case letters, digits and hyphens", c.ID)
		case slices.Contains(ids, c.ID):
			v.say(at, "two checks have the id %q", c.ID)
		}
		ids = append(ids, c.ID)
		edges[c.ID] = c.Needs
	}
	for i, c := range v.exercise.Checks {
		for j, need := range c.Needs {
			v.known(fmt.Sprintf("checks[%d].needs[%d]", i, j), "needs a check", need, ids)
		}
	}
	if cycle := findCycle(ids, edges); cycle != nil {
		i := slices.Index(ids, cycle[0])
		v.say(fmt.Sprintf("checks[%d].needs", i), "checks need each other: %s", strings.Join(cycle, " → "))
	}
}

// answers looks at the answers that a right or a wrong learner gives.
func (v *validator) answers(path string, answers map[string]string) {
	for id, value := range answers {
		at := join(path, id)
		c := v.exercise.Check(id)
		switch {
		case c == nil:
			v.known(at, "answers a check", id, v.checkNames())
		case c.Choice != nil:
			if !slices.ContainsFunc(c.Choice.Options, func(o Option) bool { return o.ID == value }) {
				v.say(at, "%q is no option of the check %q", value, id)
			}
		case c.Answer == nil:
			v.say(at, "the check %q takes no answer: it is of kind %s", id, c.Kind())
		}
		if strings.HasPrefix(value, "$(") {
			v.shell(at, "echo \""+value+"\"")
		}
	}
}

// solvable looks whether the file says how to pass each check.
func (v *validator) solvable() {
	needsSolution := false
	for i, c := range v.exercise.Checks {
		switch {
		case c.Answer != nil:
			if _, ok := v.exercise.Answers[c.ID]; !ok {
				v.say(fmt.Sprintf("checks[%d]", i), "answers has no right answer to the check %q", c.ID)
			}
		case c.Choice != nil:
			right := c.RightOption()
			if picked, ok := v.exercise.Answers[c.ID]; ok && right != nil && picked != right.ID {
				v.say(join("answers", c.ID), "the right option of the check %q is %q, not %q", c.ID, right.ID, picked)
			}
		default:
			needsSolution = true
		}
	}
	if needsSolution && strings.TrimSpace(v.exercise.Solution) == "" && v.exercise.Program == "" {
		v.say("solution", "the exercise has no solution")
	}
}

func (v *validator) wrong() {
	if len(v.exercise.Wrong) == 0 {
		v.say("wrong", "the exercise has no wrong answer: add at least one under wrong")
	}
	for i, w := range v.exercise.Wrong {
		at := fmt.Sprintf("wrong[%d]", i)
		v.required(at+".name", w.Name)
		v.shell(at+".run", w.Run)
		v.program(at+".program", w.Program)
		v.answers(at+".answers", w.Answers)
		if strings.TrimSpace(w.Run) == "" && w.Program == "" && len(w.Answers) == 0 {
			v.say(at, "%s does nothing: give it run, program or answers", at)
		}
		if len(w.Stays) == 0 {
			v.say(at, "%s has no stays: name the checks that it must not pass", at)
		}
		for j, id := range w.Stays {
			v.known(fmt.Sprintf("%s.stays[%d]", at, j), "stays names a check", id, v.checkNames())
		}
	}
}

// program looks at a command line: programs come from one folder.
func (v *validator) program(path, line string) {
	words := strings.Fields(line)
	if len(words) == 0 && line != "" || len(words) > 0 && strings.ContainsAny(words[0], `/\`) {
		v.say(path, "%s begins with the name of a program, without a folder: `apilab verify --programs DIR` says where it is", path)
	}
}

func (v *validator) checkNames() []string {
	var ids []string
	for _, c := range v.exercise.Checks {
		ids = append(ids, c.ID)
	}
	return ids
}

func (v *validator) known(path, what, id string, ids []string) {
	if slices.Contains(ids, id) {
		return
	}
	if near, ok := spelling.Nearest(id, ids); ok {
		v.say(path, "%s %q that does not exist; did you mean %q?", what, id, near)
		return
	}
	v.say(path, "%s %q that does not exist", what, id)
}

func (v *validator) required(path, value string) {
	if strings.TrimSpace(value) == "" {
		v.say(path, "%s is missing", path)
	}
}

func (v *validator) oneOf(path, value string, allowed ...string) {
	if slices.Contains(allowed, value) {
		return
	}
	allowed = slices.DeleteFunc(slices.Clone(allowed), func(s string) bool { return s == "" })
	v.say(path, "%s is %q; must be one of %s", path, value, strings.Join(allowed, ", "))
}

// shell finds errors of syntax in a script; what it does is found out by apilab verify.
func (v *validator) shell(path, script string) {
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err == nil {
		return
	}
	line, message := v.line(path), err.Error()
	if at, ok := err.(syntax.ParseError); ok {
		line, message = v.inside(path, int(at.Pos.Line())), at.Text
	}
	v.problems = append(v.problems, Problem{Line: line, Message: fmt.Sprintf("%s: shell: %s", path, message)})
}

// inside returns the file's line of a line in a field's text. Exact for literal blocks and one-line texts, which is
// what expressions and scripts are written as.
func (v *validator) inside(path string, line int) int {
	node := v.nodes[path]
	if node == nil {
		return v.line(path)
	}
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Style &^ yaml.TaggedStyle {
	case yaml.LiteralStyle:
		return node.Line + line
	case yaml.FoldedStyle:
		return node.Line + 1
	}
	return node.Line
}
