// Package explain says in plain English why an expression of a check is not true: which part of it decided, and what
// its operands are. It works on the expression's syntax tree, evaluating parts of it again, and knows nothing of
// clusters: what the variables stand for is told by a Subject.
package explain

import (
	"errors"
	"fmt"

	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/apilab/apilab/exercises/expr"
)

// A Subject names what the variables of an expression stand for.
type Subject struct {
	Object string          // "ConfigMap fin-demo in api-lab": what object (and old) is
	Lists  map[string]Noun // what the variables that are lists of objects hold
	Secret string          // variable whose right value must not be given away: "answer"
}

// A Noun names the members of a list.
type Noun struct {
	One, Many string // "Pod", "Pods"
	Where     string // "in api-lab"; may be empty
}

// A Reason is why an expression is not true.
type Reason struct {
	Text string // a sentence without capital and full stop: "spec.replicas is 2; expected 3"
	// Field and Saw are the operand that decided, as CEL, and its value; empty where no single one did.
	Field, Saw string
	// Broken: the expression could not be evaluated, and nothing that a learner does changes that. Text says what broke.
	Broken bool
	// Depth is how many of the conditions that are joined by && hold before the one that does not.
	Depth int
}

// Why explains an expression that is false or fails with these values. Of a true one it returns the zero Reason.
func Why(x *expr.Expression, vars expr.Vars, subject Subject) Reason {
	ok, err := x.Eval(vars)
	if ok {
		return Reason{}
	}
	if errors.Is(err, expr.ErrLimit) {
		return Reason{Text: err.Error(), Broken: true}
	}
	w := &walker{x: x, vars: vars, subject: subject}
	return w.why(x.Root(), true, nil)
}

// A walker explains one expression over one set of values.
type walker struct {
	x       *expr.Expression
	vars    expr.Vars
	subject Subject
}

// A scope is a variable of a macro, and those around it.
type scope struct {
	outer *scope
	name  string
	value ref.Val
	label name // what a learner calls the element
}

func (s *scope) values() map[string]ref.Val {
	values := map[string]ref.Val{}
	for ; s != nil; s = s.outer {
		if _, inner := values[s.name]; !inner {
			values[s.name] = s.value
		}
	}
	return values
}

func (s *scope) find(name string) *scope {
	for ; s != nil && s.name != name; s = s.outer {
	}
	return s
}

func (w *walker) eval(e celast.Expr, s *scope) (ref.Val, error) {
	return w.x.EvalAt(e, w.vars, s.values())
}

// holds reports whether e is plainly true.
func (w *walker) holds(e celast.Expr, s *scope) bool {
	v, err := w.eval(e, s)
	return err == nil && v == types.True
}

// why explains why e is not want, which the caller knows.
func (w *walker) why(e celast.Expr, want bool, s *scope) Reason {
	value, err := w.eval(e, s)
	switch {
	case errors.Is(err, expr.ErrLimit):
		return Reason{Text: err.Error(), Broken: true}
	case err != nil && !isLogic(e) && !w.isTest(e): // of those, the part that is to blame is found below
		return w.fault(e, s, err)
	case err == nil && value.Type() != types.BoolType:
		return Reason{
			Text:  fmt.Sprintf("%s is %s, which is neither true nor false", w.say(e, s), show(value)),
			Field: w.x.Text(e), Saw: show(value), Broken: true,
		}
	}
	if w.tellsSecret(e) {
		return Reason{Text: fmt.Sprintf("%s is not right", show(w.secret()))}
	}
	if e.Kind() == celast.ComprehensionKind {
		return w.macro(e, want, s)
	}
	if e.Kind() == celast.SelectKind && e.AsSelect().IsTestOnly() {
		return w.has(e, want, s)
	}
	if e.Kind() == celast.CallKind {
		call := e.AsCall()
		switch call.FunctionName() {
		case operators.LogicalAnd:
			return w.and(e, want, s)
		case operators.LogicalOr:
			return w.or(e, want, s)
		case operators.LogicalNot:
			return w.why(call.Args()[0], !want, s)
		case operators.Conditional:
			return w.conditional(call, want, s)
		case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
			return w.comparison(call, want, s)
		case operators.In:
			return w.membership(call, want, s)
		}
		return w.function(e, want, s)
	}
	return w.flag(e, want, s)
}

func isLogic(e celast.Expr) bool {
	return isCall(e, operators.LogicalAnd) || isCall(e, operators.LogicalOr) || isCall(e, operators.LogicalNot)
}

func isCall(e celast.Expr, function string) bool {
	return e.Kind() == celast.CallKind && e.AsCall().FunctionName() == function
}

// flag explains an operand that is a bool itself.
func (w *walker) flag(e celast.Expr, want bool, s *scope) Reason {
	if e.Kind() == celast.LiteralKind {
		return Reason{Text: fmt.Sprintf("the check asks for %t, which is never so", !want)}
	}
	return Reason{
		Text:  fmt.Sprintf("%s is %t; expected %t", w.say(e, s), !want, want),
		Field: w.x.Text(e), Saw: fmt.Sprint(!want),
	}
}

// tellsSecret reports whether e is a condition on the secret that is not made of smaller conditions.
func (w *walker) tellsSecret(e celast.Expr) bool {
	if w.subject.Secret == "" || isLogic(e) || isCall(e, operators.Conditional) {
		return false
	}
	tells := false
	celast.PreOrderVisit(e, celast.NewExprVisitor(func(part celast.Expr) {
		tells = tells || part.Kind() == celast.IdentKind && part.AsIdent() == w.subject.Secret
	}))
	return tells
}

func (w *walker) secret() ref.Val {
	return types.DefaultTypeAdapter.NativeToValue(w.vars[w.subject.Secret])
}
