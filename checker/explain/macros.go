package explain

import (
	"fmt"
	"slices"
	"strings"

	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// macro explains exists, exists_one, all and bind.
func (w *walker) macro(e celast.Expr, want bool, s *scope) Reason {
	call, ok := w.x.Macro(e)
	if !ok {
		return w.flag(e, want, s)
	}
	loop := e.AsComprehension()
	if call.FunctionName() == "bind" {
		return w.why(loop.Result(), want, w.bind(loop, s))
	}
	body, ok := bodyOf(loop, call.FunctionName())
	if !ok {
		return w.flag(e, want, s)
	}
	elements, reason := w.elements(loop, s)
	if reason != nil {
		return *reason
	}
	switch call.FunctionName() {
	case "exists":
		if want {
			return w.none(loop, body, elements, s)
		}
		return w.first(body, elements, true, false)
	case "all":
		if want {
			return w.first(body, elements, false, true)
		}
		return Reason{Text: fmt.Sprintf("%s fits all of %s; expected not all to", w.condition(body, loop), w.say(loop.IterRange(), s))}
	default: // exists_one
		fit := 0
		for _, element := range elements {
			if w.holds(body, element) {
				fit++
			}
		}
		if fit == 0 && want {
			return w.none(loop, body, elements, s)
		}
		if !want {
			return Reason{Text: fmt.Sprintf("exactly one in %s fits %s; expected none or several", w.say(loop.IterRange(), s), w.condition(body, loop))}
		}
		return Reason{Text: fmt.Sprintf("%d in %s fit %s; expected exactly one", fit, w.say(loop.IterRange(), s), w.condition(body, loop))}
	}
}

// isTest reports whether e is a macro that puts a condition to elements.
func (w *walker) isTest(e celast.Expr) bool {
	if e.Kind() != celast.ComprehensionKind {
		return false
	}
	call, ok := w.x.Macro(e)
	if !ok {
		return false
	}
	_, ok = bodyOf(e.AsComprehension(), call.FunctionName())
	return ok && call.FunctionName() != "filter"
}

// bodyOf returns the condition that a macro puts to each element, by how CEL expands it.
func bodyOf(loop celast.ComprehensionExpr, macro string) (celast.Expr, bool) {
	step := loop.LoopStep()
	if step.Kind() != celast.CallKind {
		return nil, false
	}
	args := step.AsCall().Args()
	switch {
	case macro == "exists" && isCall(step, operators.LogicalOr), macro == "all" && isCall(step, operators.LogicalAnd):
		return args[1], true
	case isCall(step, operators.Conditional) && (macro == "exists_one" || macro == "existsOne" || macro == "filter"):
		return args[0], true
	}
	return nil, false
}

// elements returns a scope for each element of the range, or why there is no range.
func (w *walker) elements(loop celast.ComprehensionExpr, s *scope) ([]*scope, *Reason) {
	over, err := w.eval(loop.IterRange(), s)
	if err != nil {
		reason := w.fault(loop.IterRange(), s, err)
		return nil, &reason
	}
	iterable, ok := over.(traits.Iterable)
	if !ok {
		reason := Reason{Text: w.absent(loop.IterRange(), s), Field: w.x.Text(loop.IterRange()), Saw: show(over)}
		return nil, &reason
	}
	mapper, isMap := over.(traits.Mapper)
	var scopes []*scope
	i := 0
	for it := iterable.Iterator(); it.HasNext() == types.True; i++ {
		item := it.Next()
		label := w.element(loop.IterRange(), item, i, isMap, s)
		element := &scope{outer: s, name: loop.IterVar(), value: item, label: label}
		if loop.HasIterVar2() {
			second := item
			if isMap {
				second = mapper.Get(item)
			} else {
				element.value = types.Int(i)
			}
			element = &scope{outer: element, name: loop.IterVar2(), value: second, label: label}
		}
		scopes = append(scopes, element)
	}
	return scopes, nil
}

// bind is the scope inside cel.bind(name, value, …).
func (w *walker) bind(loop celast.ComprehensionExpr, s *scope) *scope {
	value, err := w.eval(loop.AccuInit(), s)
	if err != nil {
		value = types.NewErr("%v", err)
	}
	return &scope{outer: s, name: loop.AccuVar(), value: value, label: w.name(loop.AccuInit(), s)}
}

// first explains by the first element for which the body is as given; it should be want.
func (w *walker) first(body celast.Expr, elements []*scope, given, want bool) Reason {
	for _, element := range elements {
		if w.holds(body, element) != given {
			continue
		}
		if given && w.identifies(body, element) {
			return Reason{Text: element.label.String() + " is still there", Field: w.x.Text(body), Saw: show(element.value)}
		}
		return w.why(body, want, element)
	}
	return Reason{Text: fmt.Sprintf("%s is not %t", w.x.Text(body), want)}
}

// identifies reports whether the body only asks for an element by its name: x == 'a', x.name == 'a'.
func (w *walker) identifies(body celast.Expr, element *scope) bool {
	if !isCall(body, operators.Equals) {
		return false
	}
	args := body.AsCall().Args()
	switch strings.TrimPrefix(w.x.Text(args[0]), element.name) {
	case "", ".name", ".type", ".metadata.name":
		return isConstant(args[1])
	}
	return false
}

// What a learner calls an element of requests, in an expression that looks at one request and at others, or at all alike.
const (
	earlierRequest = "an earlier request"
	anyRequest     = "one of your requests"
)

func isRequests(e celast.Expr) bool {
	return e.Kind() == celast.IdentKind && e.AsIdent() == "requests"
}

// none explains that no element fits, by the one that comes nearest.
func (w *walker) none(loop celast.ComprehensionExpr, body celast.Expr, elements []*scope, s *scope) Reason {
	over := loop.IterRange()
	if len(elements) == 0 {
		if noun, ok := w.nounOf(over); ok {
			return Reason{Text: thereAre(0, noun), Field: w.x.Text(over), Saw: "[]"}
		}
		return Reason{Text: w.say(over, s) + " is empty", Field: w.x.Text(over), Saw: "[]"}
	}
	nearest := Reason{Depth: -1}
	for _, element := range elements {
		if reason := w.why(body, true, element); reason.Depth > nearest.Depth {
			nearest = reason
		}
	}
	if nearest.Broken {
		return nearest
	}
	if nearest.Depth == 0 {
		if isRequests(over) && nearest.Field == loop.IterVar()+".id" { // r.id < request.id, of each
			nearest.Text = "you sent no request before it"
			return nearest
		}
		if reason, ok := w.noneWith(loop, body, elements, s); ok {
			return reason
		}
		if len(elements) > 1 {
			nearest.Text = fmt.Sprintf("none of %s fits: %s", w.members(over, len(elements), s), nearest.Text)
		}
	}
	nearest.Depth = 0 // counted within the macro, not around it
	return nearest
}

// noneWith explains a first condition x.field == constant that no element fits: which values there are.
func (w *walker) noneWith(loop celast.ComprehensionExpr, body celast.Expr, elements []*scope, s *scope) (Reason, bool) {
	condition := parts(body, operators.LogicalAnd)[0]
	if !isCall(condition, operators.Equals) {
		return Reason{}, false
	}
	field, constant := condition.AsCall().Args()[0], condition.AsCall().Args()[1]
	if isConstant(field) {
		field, constant = constant, field
	}
	if !isConstant(constant) || isConstant(field) {
		return Reason{}, false
	}
	wanted, err := w.eval(constant, s)
	if err != nil {
		return Reason{}, false
	}
	var found []string
	for _, element := range elements {
		if value, err := w.eval(field, element); err == nil && !slices.Contains(found, show(value)) {
			found = append(found, show(value))
		}
	}
	if len(found) == 0 {
		return Reason{}, false
	}
	over := loop.IterRange()
	inner := elements[0]
	what := strings.TrimPrefix(strings.TrimPrefix(w.x.Text(field), inner.name), ".")
	reason := Reason{Field: w.x.Text(over), Saw: few(found)}
	noun, named := w.nounOf(over)
	switch {
	case what == "":
		reason.Text = fmt.Sprintf("%s has no %s; it has %s", w.say(over, s), show(wanted), few(found))
	case named:
		reason.Text = strings.TrimSpace(fmt.Sprintf("no %s %s", noun.One, noun.Where)) +
			fmt.Sprintf(" has %s %s; found %s", what, show(wanted), few(found))
	default:
		reason.Text = fmt.Sprintf("nothing in %s has %s %s; found %s", w.say(over, s), what, show(wanted), few(found))
	}
	return reason, true
}

// members names the elements of a range: "the 3 Pods in api-lab".
func (w *walker) members(over celast.Expr, n int, s *scope) string {
	if noun, ok := w.nounOf(over); ok {
		return strings.TrimSpace(fmt.Sprintf("the %d %s %s", n, noun.Many, noun.Where))
	}
	return fmt.Sprintf("the %d in %s", n, w.say(over, s))
}

// filtered says how many elements a filter let through.
func (w *walker) filtered(e celast.Expr, n int, s *scope) (string, bool) {
	call, ok := w.x.Macro(e)
	if !ok || call.FunctionName() != "filter" {
		return "", false
	}
	loop := e.AsComprehension()
	over, err := w.eval(loop.IterRange(), s)
	body, ok := bodyOf(loop, "filter")
	if err != nil || !ok {
		return "", false
	}
	sized, ok := over.(traits.Sizer)
	if !ok {
		return "", false
	}
	total, _ := sized.Size().(types.Int)
	if noun, ok := w.nounOf(loop.IterRange()); ok && total == 0 {
		return thereAre(0, noun), true
	}
	fit := "fit"
	if n == 1 {
		fit = "fits"
	}
	return fmt.Sprintf("%d of %s %s (%s)", n, w.members(loop.IterRange(), int(total), s), fit, w.condition(body, loop)), true
}

// condition is the text of a body without the variable: "status.phase == "Running"".
func (w *walker) condition(body celast.Expr, loop celast.ComprehensionExpr) string {
	variable := loop.IterVar()
	if loop.HasIterVar2() {
		variable = loop.IterVar2()
	}
	return stripVariable(w.x.Text(body), variable)
}

// element names one element of a range for a learner.
func (w *walker) element(over celast.Expr, item ref.Val, i int, isMap bool, s *scope) name {
	if isMap {
		return name{what: fmt.Sprintf("key %s of %s", show(item), w.say(over, s))}
	}
	if isRequests(over) { // the name of a request is not its own
		if w.x.Uses("request") {
			return name{what: earlierRequest}
		}
		return name{what: anyRequest}
	}
	if object, ok := objectName(item); ok {
		return name{what: object}
	}
	around := w.name(over, s)
	noun := singular(around.last())
	fields, ok := item.(traits.Mapper)
	if !ok {
		return name{what: fmt.Sprintf("%s %s", noun, show(item)), owner: around.owner}
	}
	for _, key := range []types.String{"name", "type", "manager", "key", "kind"} {
		if value, found := fields.Find(key); found {
			return name{what: fmt.Sprintf("%s %s", noun, show(value)), owner: around.owner}
		}
	}
	return name{what: fmt.Sprintf("%s %d", noun, i+1), owner: around.owner}
}
