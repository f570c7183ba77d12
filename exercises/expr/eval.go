package expr

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/cel-go/cel"
	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apiserver/pkg/cel/library"
)

// Bounds of one expression.
const (
	MaxSource = 8 << 10                // characters
	CostLimit = 1_000_000              // the same units and bound as a CRD's rule has in one call
	Timeout   = 250 * time.Millisecond // of one evaluation
)

// ErrLimit is in the chain of errors of an evaluation that cost or took too much.
var ErrLimit = errors.New("the expression costs too much")

// Vars are the values of variables: what JSON decodes to (integers as int64), time.Time, time.Duration.
type Vars map[string]any

// Eval evaluates the whole expression. A value that is no bool is an error, as is any error of CEL's.
func (x *Expression) Eval(vars Vars) (bool, error) {
	v, err := x.EvalAt(x.Root(), vars, nil)
	if err != nil {
		return false, err
	}
	b, ok := v.(types.Bool)
	if !ok {
		return false, fmt.Errorf("the expression is %s, not true or false", v.Type().TypeName())
	}
	return bool(b), nil
}

// EvalAt evaluates a part of the expression; bound are the values of the variables of macros around it.
func (x *Expression) EvalAt(e celast.Expr, vars Vars, bound map[string]ref.Val) (ref.Val, error) {
	program, err := x.program(e)
	if err != nil {
		return nil, err
	}
	activation, err := cel.NewActivation(map[string]any(vars))
	if err != nil {
		return nil, err
	}
	if len(bound) > 0 {
		inner := make(map[string]any, len(bound))
		for name, value := range bound {
			inner[name] = value
		}
		scope, err := cel.NewActivation(inner)
		if err != nil {
			return nil, err
		}
		activation = interpreter.NewHierarchicalActivation(activation, scope)
	}
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	value, _, err := program.ContextEval(ctx, activation)
	if err == nil {
		return value, nil
	}
	var stopped interpreter.EvalCancelledError
	if errors.As(err, &stopped) || ctx.Err() != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w: it ran longer than %s", ErrLimit, Timeout)
		}
		return nil, fmt.Errorf("%w: more than %d units", ErrLimit, CostLimit)
	}
	return nil, err
}

// program returns e's program, e being the whole expression or a part of it.
func (x *Expression) program(e celast.Expr) (cel.Program, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if program, ok := x.programs[e.ID()]; ok {
		return program, nil
	}
	part := x.ast
	if e.ID() != x.Root().ID() {
		var err error
		if part, err = x.part(e); err != nil {
			return nil, err
		}
	}
	program, err := x.env.Program(part,
		cel.CostLimit(CostLimit),
		cel.CostTracking(&library.CostEstimator{}),
		cel.InterruptCheckFrequency(100),
	)
	if err != nil {
		return nil, fmt.Errorf("plan expression: %w", err)
	}
	x.programs[e.ID()] = program
	return program, nil
}

// part cuts e out of the checked tree, with the types and references that its nodes have there.
func (x *Expression) part(e celast.Expr) (*cel.Ast, error) {
	whole := x.ast.NativeRep()
	cut := celast.NewCheckedAST(celast.NewAST(e, whole.SourceInfo()), whole.TypeMap(), whole.ReferenceMap())
	checked, err := celast.ToProto(cut)
	if err != nil {
		return nil, fmt.Errorf("cut expression: %w", err)
	}
	return cel.CheckedExprToAst(checked), nil
}
