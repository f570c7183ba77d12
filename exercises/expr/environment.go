package expr

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"k8s.io/apiserver/pkg/cel/library"
)

// base is the language of Kubernetes 1.37 without its authorizer library, so that what authors and learners know from
// CRD rules and admission policies holds here as well (compare k8s.io/apiserver/pkg/cel/environment).
var base = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.HomogeneousAggregateLiterals(),
		cel.EagerlyValidateDeclarations(true),
		cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
		cel.EnableMacroCallTracking(),
		cel.ParserExpressionSizeLimit(MaxSource),
		cel.ParserRecursionLimit(100),
		cel.ASTValidators(
			cel.ValidateDurationLiterals(),
			cel.ValidateTimestampLiterals(),
			cel.ValidateRegexLiterals(),
			cel.ValidateHomogeneousAggregateLiterals(),
			cel.ValidateComprehensionNestingLimit(4),
		),
		ext.Strings(ext.StringsVersion(2)),
		ext.Sets(),
		ext.Lists(ext.ListsVersion(3)),
		ext.Math(),
		ext.Bindings(),
		ext.TwoVarComprehensions(),
		library.Lists(library.ListsVersion(1)),
		library.URLs(),
		library.Regex(),
		library.Quantity(),
		library.IP(),
		library.CIDR(),
		library.Format(),
		library.SemverLib(library.SemverVersion(1)),
		records(),
		kstatus(),
	)
})

var (
	environmentsMu sync.Mutex
	environments   = map[string]*cel.Env{}
)

// environment returns the language with the variables of the kind. There are few different ones: they are kept.
func environment(kind Kind, with []string) (*cel.Env, error) {
	with = slices.Clone(with)
	slices.Sort(with)
	key := string(kind) + " " + strings.Join(with, " ")
	environmentsMu.Lock()
	defer environmentsMu.Unlock()
	if env, ok := environments[key]; ok {
		return env, nil
	}
	root, err := base()
	if err != nil {
		return nil, fmt.Errorf("make CEL environment: %w", err)
	}
	options := variables(kind)
	if options == nil {
		return nil, fmt.Errorf("no such kind of expression: %q", kind)
	}
	for _, name := range with {
		options = append(options, cel.Variable(name, cel.ListType(cel.DynType)))
	}
	env, err := root.Extend(options...)
	if err != nil {
		return nil, fmt.Errorf("declare variables: %w", err)
	}
	environments[key] = env
	return env, nil
}

func variables(kind Kind) []cel.EnvOption {
	list := cel.ListType(cel.DynType)
	switch kind {
	case Object:
		return []cel.EnvOption{cel.Variable("object", cel.DynType), cel.Variable("old", cel.DynType)}
	case Objects:
		return []cel.EnvOption{cel.Variable("objects", list)}
	case History:
		return []cel.EnvOption{
			cel.Variable("versions", list), cel.Variable("deletions", list),
			cel.Variable("events", cel.ListType(eventType)),
		}
	case Request:
		return []cel.EnvOption{cel.Variable("request", requestType), cel.Variable("requests", cel.ListType(requestType))}
	case Answer:
		return []cel.EnvOption{cel.Variable("answer", cel.StringType), cel.Variable("requests", cel.ListType(requestType))}
	case Probe:
		return []cel.EnvOption{cel.Variable("result", cel.ListType(stepType))}
	case Wait:
		return []cel.EnvOption{cel.Variable("object", cel.DynType)}
	case Control:
		return []cel.EnvOption{
			cel.Variable("object", cel.DynType), cel.Variable("each", cel.DynType), cel.Variable("now", cel.TimestampType),
		}
	}
	return nil
}

// Reserved reports whether a name cannot be a key of With, because it is a variable of a kind or a word of CEL's own.
func Reserved(name string) bool {
	switch name {
	case "object", "old", "objects", "versions", "deletions", "events", "request", "requests", "answer", "result", "each", "now",
		"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
		"let", "loop", "package", "namespace", "return", "var", "void", "while", "int", "uint", "double", "bool",
		"string", "bytes", "list", "map", "type", "size", "has", "dyn", "duration", "timestamp":
		return true
	}
	return false
}
