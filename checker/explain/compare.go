package explain

import (
	"fmt"

	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// opposite is the comparison that must hold where the first must not.
var opposite = map[string]string{
	operators.Equals: operators.NotEquals, operators.NotEquals: operators.Equals,
	operators.Less: operators.GreaterEquals, operators.GreaterEquals: operators.Less,
	operators.Greater: operators.LessEquals, operators.LessEquals: operators.Greater,
}

// mirrored is the comparison with its sides swapped.
var mirrored = map[string]string{
	operators.Equals: operators.Equals, operators.NotEquals: operators.NotEquals,
	operators.Less: operators.Greater, operators.Greater: operators.Less,
	operators.LessEquals: operators.GreaterEquals, operators.GreaterEquals: operators.LessEquals,
}

var wording = map[string]string{
	operators.Equals: "", operators.NotEquals: "something other than ",
	operators.Less: "less than ", operators.LessEquals: "at most ",
	operators.Greater: "more than ", operators.GreaterEquals: "at least ",
}

func (w *walker) comparison(call celast.CallExpr, want bool, s *scope) Reason {
	operator, left, right := call.FunctionName(), call.Args()[0], call.Args()[1]
	if isConstant(left) && !isConstant(right) {
		operator, left, right = mirrored[operator], right, left
	}
	if !want {
		operator = opposite[operator]
	}
	saw, err := w.eval(left, s)
	if err != nil {
		return w.fault(left, s, err)
	}
	expected, err := w.eval(right, s)
	if err != nil {
		return w.fault(right, s, err)
	}
	reason := Reason{Field: w.x.Text(left), Saw: show(saw)}
	switch {
	case expected == types.NullValue && operator == operators.Equals:
		reason.Text = w.present(left, saw, s)
	case expected == types.NullValue && operator == operators.NotEquals:
		reason.Text = w.absent(left, s)
	case saw == types.NullValue && w.isSubject(left):
		reason.Text = w.absent(left, s)
	case isConstant(right) && saw.Type() == types.BoolType && expected.Type() == types.BoolType:
		reason.Text = fmt.Sprintf("%s is %s; expected %v", w.say(left, s), show(saw), saw != types.True)
	case isConstant(right):
		reason.Text = w.quantity(left, saw, s) + "; expected " + wording[operator] + show(expected)
	case operator == operators.Equals:
		reason.Text = fmt.Sprintf("%s is %s, but %s is %s", w.say(left, s), show(saw), w.say(right, s), show(expected))
	case operator == operators.NotEquals:
		reason.Text = fmt.Sprintf("%s and %s are both %s", w.say(left, s), w.say(right, s), show(saw))
	default:
		reason.Text = fmt.Sprintf("%s is %s; expected %s%s, which is %s",
			w.say(left, s), show(saw), wording[operator], w.say(right, s), show(expected))
	}
	return reason
}

// quantity says what an operand is; of a size, how many there are.
func (w *walker) quantity(e celast.Expr, saw ref.Val, s *scope) string {
	of, ok := sizeOf(e)
	if !ok {
		return w.say(e, s) + " is " + show(saw)
	}
	n, isInt := saw.(types.Int)
	if !isInt {
		return w.say(e, s) + " is " + show(saw)
	}
	if of.Kind() == celast.ComprehensionKind {
		if text, ok := w.filtered(of, int(n), s); ok {
			return text
		}
	}
	if noun, ok := w.nounOf(of); ok {
		return thereAre(int(n), noun)
	}
	value, err := w.eval(of, s)
	unit := "item"
	if err == nil {
		switch value.(type) {
		case types.String:
			unit = "character"
		case traits.Mapper:
			unit = "key"
		}
	}
	return w.say(of, s) + " has " + count(int(n), unit, unit+"s")
}

// sizeOf returns x of size(x) and x.size().
func sizeOf(e celast.Expr) (celast.Expr, bool) {
	if !isCall(e, "size") {
		return nil, false
	}
	call := e.AsCall()
	if call.IsMemberFunction() {
		return call.Target(), true
	}
	return call.Args()[0], len(call.Args()) == 1
}

func (w *walker) nounOf(e celast.Expr) (Noun, bool) {
	if e.Kind() != celast.IdentKind {
		return Noun{}, false
	}
	noun, ok := w.subject.Lists[e.AsIdent()]
	return noun, ok
}

// membership explains x in y.
func (w *walker) membership(call celast.CallExpr, want bool, s *scope) Reason {
	item, all := call.Args()[0], call.Args()[1]
	what, err := w.eval(item, s)
	if err != nil {
		return w.fault(item, s, err)
	}
	if isConstant(all) { // one of several values: the item is what the learner sets
		in, err := w.eval(all, s)
		if err != nil {
			return w.fault(all, s, err)
		}
		expected := "one of "
		if !want {
			expected = "none of "
		}
		return Reason{
			Text:  fmt.Sprintf("%s is %s; expected %s%s", w.say(item, s), show(what), expected, showItems(in)),
			Field: w.x.Text(item), Saw: show(what),
		}
	}
	in, err := w.eval(all, s)
	if err != nil {
		return w.fault(all, s, err)
	}
	reason := Reason{Field: w.x.Text(all), Saw: show(in)}
	said := show(what)
	if !isConstant(item) {
		said = w.say(item, s) + " (" + said + ")"
	}
	_, isMap := in.(traits.Mapper)
	switch {
	case !want && isMap:
		reason.Text = fmt.Sprintf("%s has the key %s; expected none such", w.say(all, s), said)
	case !want:
		reason.Text = fmt.Sprintf("%s is still in %s", said, w.say(all, s))
	case isEmpty(in):
		reason.Text = fmt.Sprintf("%s is empty; expected %s in it", w.say(all, s), said)
	case isMap:
		reason.Text = fmt.Sprintf("%s has no key %s", w.say(all, s), said)
	default:
		reason.Text = fmt.Sprintf("%s is %s; expected %s in it", w.say(all, s), show(in), said)
	}
	return reason
}

func isEmpty(v ref.Val) bool {
	sized, ok := v.(traits.Sizer)
	return ok && sized.Size() == types.IntZero
}

// has explains has(a.b.c).
func (w *walker) has(e celast.Expr, want bool, s *scope) Reason {
	operand := e.AsSelect().Operand()
	reason := Reason{Field: w.field(e, s), Saw: "nothing"}
	base, err := w.eval(operand, s)
	if err != nil {
		return w.fault(operand, s, err)
	}
	if base == types.NullValue {
		reason.Field = w.x.Text(operand)
		reason.Text = w.absent(operand, s)
		return reason
	}
	if want {
		reason.Text = w.say(e, s) + " is not set"
		return reason
	}
	saw := ref.Val(types.NullValue)
	if indexer, ok := base.(traits.Indexer); ok {
		saw = indexer.Get(types.String(e.AsSelect().FieldName()))
	}
	reason.Saw = show(saw)
	reason.Text = fmt.Sprintf("%s is set, to %s; expected none", w.say(e, s), show(saw))
	return reason
}

// function explains calls that are true or false.
func (w *walker) function(e celast.Expr, want bool, s *scope) Reason {
	call := e.AsCall()
	to := map[string]string{"startsWith": "start with", "endsWith": "end with", "contains": "contain", "matches": "match"}
	if verb, ok := to[call.FunctionName()]; ok && call.IsMemberFunction() && len(call.Args()) == 1 {
		saw, err := w.eval(call.Target(), s)
		argument, argErr := w.eval(call.Args()[0], s)
		if err == nil && argErr == nil {
			not := ""
			if !want {
				not = "not "
			}
			return Reason{
				Text:  fmt.Sprintf("%s is %s; expected it %sto %s %s", w.say(call.Target(), s), show(saw), not, verb, show(argument)),
				Field: w.x.Text(call.Target()), Saw: show(saw),
			}
		}
	}
	reason := Reason{Text: fmt.Sprintf("%s is %t", w.say(e, s), !want)}
	operands := call.Args()
	if call.IsMemberFunction() {
		operands = append([]celast.Expr{call.Target()}, operands...)
	}
	for _, operand := range operands {
		value, err := w.eval(operand, s)
		if err == nil && !isConstant(operand) {
			reason.Text += fmt.Sprintf(": %s is %s", w.say(operand, s), show(value))
			reason.Field, reason.Saw = w.x.Text(operand), show(value)
			break
		}
	}
	return reason
}

// isConstant reports whether e names no variable.
func isConstant(e celast.Expr) bool {
	constant := true
	celast.PreOrderVisit(e, celast.NewExprVisitor(func(part celast.Expr) {
		constant = constant && part.Kind() != celast.IdentKind
	}))
	return constant
}
