package explain

import (
	"fmt"

	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// fault explains why e cannot be evaluated, by its innermost part that cannot. What a learner has not made yet (a null
// object, a field that is not set, a list that is too short, text that is no number) is a reason like another; anything
// else is the check's own fault.
func (w *walker) fault(e celast.Expr, s *scope, err error) Reason {
	switch e.Kind() {
	case celast.SelectKind:
		return w.selectFault(e, s, err)
	case celast.ComprehensionKind:
		return w.loopFault(e, s, err)
	case celast.ListKind:
		for _, item := range e.AsList().Elements() {
			if _, err := w.eval(item, s); err != nil {
				return w.fault(item, s, err)
			}
		}
	case celast.CallKind:
		return w.callFault(e, s, err)
	}
	return w.broken(e, err)
}

func (w *walker) broken(e celast.Expr, err error) Reason {
	return Reason{Text: fmt.Sprintf("%s cannot be evaluated: %v", w.x.Text(e), err), Field: w.x.Text(e), Broken: true}
}

func (w *walker) selectFault(e celast.Expr, s *scope, err error) Reason {
	operand := e.AsSelect().Operand()
	base, baseErr := w.eval(operand, s)
	if baseErr != nil {
		return w.fault(operand, s, baseErr)
	}
	if base == types.NullValue {
		return Reason{Text: w.absent(operand, s), Field: w.x.Text(operand), Saw: "null"}
	}
	if _, ok := base.(traits.Mapper); ok {
		return w.unset(e, s)
	}
	return w.broken(e, fmt.Errorf("%s is %s, which has no fields", w.say(operand, s), show(base)))
}

func (w *walker) unset(e celast.Expr, s *scope) Reason {
	return Reason{Text: w.say(e, s) + " is not set", Field: w.x.Text(e), Saw: "nothing"}
}

// loopFault: the range is at fault, or one of its elements.
func (w *walker) loopFault(e celast.Expr, s *scope, err error) Reason {
	loop := e.AsComprehension()
	call, ok := w.x.Macro(e)
	if !ok {
		return w.broken(e, err)
	}
	if call.FunctionName() == "bind" {
		if _, initErr := w.eval(loop.AccuInit(), s); initErr != nil {
			return w.fault(loop.AccuInit(), s, initErr)
		}
		return w.fault(loop.Result(), w.bind(loop, s), err)
	}
	elements, reason := w.elements(loop, s)
	if reason != nil {
		return *reason
	}
	body, ok := bodyOf(loop, call.FunctionName())
	if !ok {
		if body, ok = mapped(loop); !ok {
			return w.broken(e, err)
		}
	}
	for _, element := range elements {
		if _, err := w.eval(body, element); err != nil {
			return w.fault(body, element, err)
		}
	}
	return w.broken(e, err)
}

// mapped returns the expression that map(x, …) makes of each element.
func mapped(loop celast.ComprehensionExpr) (celast.Expr, bool) {
	step := loop.LoopStep()
	if isCall(step, operators.Conditional) {
		step = step.AsCall().Args()[1]
	}
	if !isCall(step, operators.Add) {
		return nil, false
	}
	last := step.AsCall().Args()[1]
	if last.Kind() != celast.ListKind || last.AsList().Size() != 1 {
		return nil, false
	}
	return last.AsList().Elements()[0], true
}

func (w *walker) callFault(e celast.Expr, s *scope, err error) Reason {
	call := e.AsCall()
	operands := call.Args()
	if call.IsMemberFunction() {
		operands = append([]celast.Expr{call.Target()}, operands...)
	}
	switch call.FunctionName() {
	case operators.Conditional:
		if _, err := w.eval(operands[0], s); err != nil {
			return w.fault(operands[0], s, err)
		}
		if w.holds(operands[0], s) {
			return w.fault(operands[1], s, err)
		}
		return w.fault(operands[2], s, err)
	case operators.Index:
		return w.indexFault(e, s, err)
	}
	values := make([]ref.Val, len(operands))
	for i, operand := range operands {
		value, err := w.eval(operand, s)
		if err != nil {
			return w.fault(operand, s, err)
		}
		values[i] = value
	}
	for i, value := range values {
		if value == types.NullValue && !isConstant(operands[i]) {
			return Reason{Text: w.absent(operands[i], s), Field: w.x.Text(operands[i]), Saw: "null"}
		}
	}
	if what := converted[call.FunctionName()]; what != "" && len(values) > 0 && !isConstant(operands[0]) {
		if _, ok := values[0].(types.String); ok {
			return Reason{
				Text:  fmt.Sprintf("%s is %s, which is not %s", w.say(operands[0], s), show(values[0]), what),
				Field: w.x.Text(operands[0]), Saw: show(values[0]),
			}
		}
	}
	return w.broken(e, err)
}

// converted are the functions that read a text, and what they take it for.
var converted = map[string]string{
	"int": "a whole number", "uint": "a whole number", "double": "a number", "bool": "true or false",
	"timestamp": "a time such as 2026-01-31T10:00:00Z", "duration": "a duration such as 5s",
	"quantity": "a quantity such as 100m or 1Gi", "ip": "an IP address", "cidr": "a network such as 10.0.0.0/8",
	"url": "a URL", "semver": "a version such as 1.2.3",
}

func isConversion(function string) bool {
	return converted[function] != "" || function == "string" || function == "dyn"
}

func (w *walker) indexFault(e celast.Expr, s *scope, err error) Reason {
	operand, index := e.AsCall().Args()[0], e.AsCall().Args()[1]
	base, baseErr := w.eval(operand, s)
	if baseErr != nil {
		return w.fault(operand, s, baseErr)
	}
	at, indexErr := w.eval(index, s)
	if indexErr != nil {
		return w.fault(index, s, indexErr)
	}
	if base == types.NullValue {
		return Reason{Text: w.absent(operand, s), Field: w.x.Text(operand), Saw: "null"}
	}
	_, byInt := at.(types.Int)
	switch base := base.(type) {
	case traits.Mapper:
		return w.unset(e, s)
	case traits.Lister:
		n, _ := base.Size().(types.Int)
		if noun, ok := w.nounOf(operand); ok && byInt {
			return Reason{Text: thereAre(int(n), noun), Field: w.x.Text(operand), Saw: show(base)}
		}
		if byInt && n == 0 {
			return Reason{Text: w.say(operand, s) + " is empty", Field: w.x.Text(operand), Saw: "[]"}
		}
		if byInt {
			return Reason{Text: fmt.Sprintf("%s has %s", w.say(operand, s), count(int(n), "item", "items")), Field: w.x.Text(operand), Saw: show(base)}
		}
	}
	return w.broken(e, err)
}
