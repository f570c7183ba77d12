package explain

import (
	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// parts flattens a && b && c, or a || b || c.
func parts(e celast.Expr, operator string) []celast.Expr {
	if !isCall(e, operator) {
		return []celast.Expr{e}
	}
	var all []celast.Expr
	for _, arg := range e.AsCall().Args() {
		all = append(all, parts(arg, operator)...)
	}
	return all
}

// and: the first condition that does not hold is what a learner does next.
func (w *walker) and(e celast.Expr, want bool, s *scope) Reason {
	conditions := parts(e, operators.LogicalAnd)
	if !want {
		return w.why(conditions[len(conditions)-1], false, s)
	}
	for i, condition := range conditions {
		if !w.holds(condition, s) {
			reason := w.why(condition, true, s)
			reason.Depth = i
			return reason
		}
	}
	return w.why(conditions[0], true, s)
}

// or: all ways are closed. Ways that only guard another (x == null || …, !has(x) || …) are not worth a word.
func (w *walker) or(e celast.Expr, want bool, s *scope) Reason {
	ways := parts(e, operators.LogicalOr)
	if !want {
		for _, way := range ways {
			if w.holds(way, s) {
				return w.why(way, false, s)
			}
		}
		return w.why(ways[0], false, s)
	}
	var open []celast.Expr
	for _, way := range ways {
		if !isGuard(way) {
			open = append(open, way)
		}
	}
	if len(open) == 0 {
		open = ways
	}
	if reason, ok := w.alternatives(open, s); ok {
		return reason
	}
	reason := w.why(open[0], true, s)
	for _, way := range open[1:] {
		other := w.why(way, true, s)
		if other.Text != reason.Text {
			reason = Reason{Text: reason.Text + ", and " + other.Text, Broken: reason.Broken || other.Broken}
			break // two are enough for one sentence
		}
	}
	return reason
}

// alternatives explains x == a || x == b as one comparison.
func (w *walker) alternatives(ways []celast.Expr, s *scope) (Reason, bool) {
	var field celast.Expr
	expected := ""
	for i, way := range ways {
		if !isCall(way, operators.Equals) {
			return Reason{}, false
		}
		args := way.AsCall().Args()
		if !isConstant(args[1]) || i > 0 && w.x.Text(args[0]) != w.x.Text(field) {
			return Reason{}, false
		}
		value, err := w.eval(args[1], s)
		if err != nil || value == types.NullValue {
			return Reason{}, false
		}
		field = args[0]
		if i > 0 {
			expected += " or "
		}
		expected += show(value)
	}
	value, err := w.eval(field, s)
	if err != nil || len(ways) < 2 {
		return Reason{}, false
	}
	return Reason{
		Text:  w.say(field, s) + " is " + show(value) + "; expected " + expected,
		Field: w.x.Text(field), Saw: show(value),
	}, true
}

func isGuard(e celast.Expr) bool {
	if isCall(e, operators.LogicalNot) {
		return true
	}
	if !isCall(e, operators.Equals) {
		return false
	}
	second := e.AsCall().Args()[1]
	return second.Kind() == celast.LiteralKind && second.AsLiteral() == types.NullValue
}

func (w *walker) conditional(call celast.CallExpr, want bool, s *scope) Reason {
	args := call.Args()
	if w.holds(args[0], s) {
		return w.why(args[1], want, s)
	}
	return w.why(args[2], want, s)
}
