// Package expr is the language of checks: CEL with the libraries that Kubernetes admits in its own rules, over the
// variables of each kind of check. It compiles and evaluates; it knows nothing of clusters, and turns nothing into prose.
package expr

import (
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	celast "github.com/google/cel-go/common/ast"
)

// A Kind of expression decides which variables there are.
type Kind string

// The kinds; Object to Probe are those of checks, Wait is that of a probe's wait step, Control that of a simulated controller.
const (
	Object  Kind = "object"  // object, old: dyn, null where there is none
	Objects Kind = "objects" // objects: list(dyn), and each key of With
	History Kind = "history" // versions, deletions: list(dyn); events: list(Event)
	Request Kind = "request" // request: Request; requests: list(Request)
	Answer  Kind = "answer"  // answer: string; requests: list(Request); and each key of With
	Probe   Kind = "probe"   // result: list(StepResult)
	Wait    Kind = "wait"    // object: dyn
	Control Kind = "control" // object, each: dyn; now: timestamp; and each key of With: those of a simulated controller
)

// An Expression is compiled and safe for concurrent use. By Compile it is of type bool, or dyn, which is then found out when it
// is evaluated; by CompileValue it is of any type.
type Expression struct {
	source string
	env    *cel.Env
	ast    *cel.Ast
	uses   map[string]bool // variables
	fields map[string]bool // selected fields

	mu       sync.Mutex
	programs map[int64]cel.Program // by expression ID, made on first use
}

// An Issue is one thing that is wrong in the text of an expression.
type Issue struct {
	Line, Column int // from 1
	Message      string
}

// CompileError says why a text is no expression of the kind.
type CompileError struct {
	Source string
	Issues []Issue // at least one
}

func (e *CompileError) Error() string {
	said := make([]string, len(e.Issues))
	for i, issue := range e.Issues {
		said[i] = issue.Message
	}
	return strings.Join(said, "; ")
}

// Compile returns the condition in source. With names further variables of type list(dyn). The error is a *CompileError.
func Compile(source string, kind Kind, with ...string) (*Expression, error) {
	x, err := CompileValue(source, kind, with...)
	if err != nil {
		return nil, err
	}
	if t := x.ast.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, &CompileError{source, []Issue{{1, 1, fmt.Sprintf("it is of type %s; must be bool", cel.FormatCELType(t))}}}
	}
	return x, nil
}

// CompileValue returns the expression in source, whatever its type. Otherwise it is as Compile.
func CompileValue(source string, kind Kind, with ...string) (*Expression, error) {
	return compiled.get(source, kind, with)
}

func compile(source string, kind Kind, with []string) (*Expression, error) {
	if len(source) > MaxSource {
		return nil, &CompileError{source, []Issue{{1, 1, fmt.Sprintf("the expression has %d characters; at most %d are allowed", len(source), MaxSource)}}}
	}
	env, err := environment(kind, with)
	if err != nil {
		return nil, &CompileError{source, []Issue{{1, 1, err.Error()}}}
	}
	ast, issues := env.Compile(source)
	if issues.Err() != nil {
		return nil, compileError(source, issues)
	}
	x := &Expression{source: source, env: env, ast: ast, uses: map[string]bool{}, fields: map[string]bool{}, programs: map[int64]cel.Program{}}
	celast.PreOrderVisit(ast.NativeRep().Expr(), celast.NewExprVisitor(func(e celast.Expr) {
		switch e.Kind() {
		case celast.IdentKind:
			x.uses[e.AsIdent()] = true
		case celast.SelectKind:
			x.fields[e.AsSelect().FieldName()] = true
		}
	}))
	if _, err := x.program(x.Root()); err != nil {
		return nil, &CompileError{source, []Issue{{1, 1, err.Error()}}}
	}
	return x, nil
}

func compileError(source string, issues *cel.Issues) *CompileError {
	e := &CompileError{Source: source}
	for _, issue := range issues.Errors() {
		e.Issues = append(e.Issues, Issue{
			Line:    max(1, issue.Location.Line()),
			Column:  issue.Location.Column() + 1,
			Message: issue.Message,
		})
	}
	sort.SliceStable(e.Issues, func(i, j int) bool { return e.Issues[i].Line < e.Issues[j].Line })
	return e
}

// Source returns the text as the author wrote it.
func (x *Expression) Source() string { return x.source }

// Uses reports whether the expression names the variable.
func (x *Expression) Uses(variable string) bool { return x.uses[variable] }

// Selects reports whether the expression selects a field of that name of anything.
func (x *Expression) Selects(field string) bool { return x.fields[field] }

// Root returns the whole expression's syntax tree.
func (x *Expression) Root() celast.Expr { return x.ast.NativeRep().Expr() }

// Macro returns the call that the author wrote where e is what a macro (exists, all, has, …) was expanded to.
func (x *Expression) Macro(e celast.Expr) (celast.CallExpr, bool) {
	call, ok := x.ast.NativeRep().SourceInfo().GetMacroCall(e.ID())
	if !ok || call.Kind() != celast.CallKind {
		return nil, false
	}
	return call.AsCall(), true
}

// Text returns e as CEL, macros unexpanded.
func (x *Expression) Text(e celast.Expr) string {
	s, err := cel.ExprToString(e, x.ast.NativeRep().SourceInfo())
	if err != nil {
		return x.source
	}
	return strings.Join(strings.Fields(s), " ")
}
