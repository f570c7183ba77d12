package explain

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// A name is what a learner calls a part of an object: "image" of "container "nginx"" of "Pod web-1".
type name struct {
	what  string // path within the owner: "spec.replicas"; or what it is as a whole
	owner string // empty: the check's own object
}

func (n name) String() string {
	switch {
	case n.owner == "":
		return n.what
	case n.what == "":
		return n.owner
	}
	return n.what + " of " + n.owner
}

// last is the last field of a path: "containers" of "spec.template.spec.containers".
func (n name) last() string {
	s := n.what[strings.LastIndex(n.what, ".")+1:]
	if !identifier.MatchString(s) {
		return "item"
	}
	return s
}

// field is the name of a field within what n names.
func (n name) field(field string) name {
	if n.owner != "" || n.what == "" {
		return name{what: joinField(n.what, field), owner: n.owner}
	}
	return name{what: joinField(n.what, field)}
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func joinField(path, field string) string {
	switch {
	case !identifier.MatchString(field):
		return path + "[" + strconv.Quote(field) + "]"
	case path == "":
		return field
	}
	return path + "." + field
}

// say is what a learner calls an operand.
func (w *walker) say(e celast.Expr, s *scope) string {
	text := w.name(e, s).String()
	if text == "" {
		return w.root(e)
	}
	return text
}

// root is what a learner calls the check's object as a whole.
func (w *walker) root(e celast.Expr) string {
	if e.Kind() == celast.IdentKind && e.AsIdent() == "object" && w.subject.Object != "" {
		return w.subject.Object
	}
	return w.x.Text(e)
}

func (w *walker) name(e celast.Expr, s *scope) name {
	switch e.Kind() {
	case celast.IdentKind:
		return w.variable(e.AsIdent(), s)
	case celast.SelectKind:
		return w.selected(e.AsSelect().Operand(), e.AsSelect().FieldName(), s)
	case celast.CallKind:
		call := e.AsCall()
		switch f := call.FunctionName(); {
		case f == operators.Index || f == operators.OptIndex:
			return w.indexed(call.Args()[0], call.Args()[1], s)
		case f == operators.OptSelect:
			if field, ok := call.Args()[1].AsLiteral().(types.String); ok {
				return w.selected(call.Args()[0], string(field), s)
			}
		case (f == "orValue" || f == "value") && call.IsMemberFunction():
			return w.name(call.Target(), s)
		case isConversion(f) && !call.IsMemberFunction() && len(call.Args()) == 1:
			return w.name(call.Args()[0], s)
		}
	}
	return name{what: stripVariable(w.x.Text(e), "object")}
}

func (w *walker) variable(variable string, s *scope) name {
	if inner := s.find(variable); inner != nil {
		return name{owner: inner.label.String()}
	}
	switch variable {
	case "object":
		return name{}
	case "old":
		return name{owner: "the version before"}
	case "request":
		return name{what: "request"}
	}
	if noun, ok := w.subject.Lists[variable]; ok {
		return name{what: strings.TrimSpace(noun.Many + " " + noun.Where)}
	}
	return name{what: variable}
}

func (w *walker) selected(operand celast.Expr, field string, s *scope) name {
	base := w.name(operand, s)
	if base.owner == earlierRequest || base.owner == anyRequest {
		if said, ok := ofRequest["request."+joinField(base.what, field)]; ok {
			return name{what: said, owner: base.owner}
		}
	}
	if base.owner != "" || base.what != "request" && base.what != "request.query" && base.what != "request.status" {
		return base.field(field)
	}
	if said, ok := ofRequest[base.what+"."+field]; ok {
		return name{what: said}
	}
	switch {
	case base.what == "request.query":
		return name{what: "query parameter " + field}
	case base.what == "request" && (field == "query" || field == "status"):
		return name{what: "request." + field}
	case base.what == "request" && (field == "body" || field == "response"):
		return name{owner: "the " + field}
	}
	return name{what: field}
}

// ofRequest are the fields of a request whose own names read badly.
var ofRequest = map[string]string{
	"request.status.code":    "status code",
	"request.status.reason":  "reason",
	"request.status.message": "message",
	"request.contentType":    "content type",
	"request.fieldManager":   "field manager",
	"request.userAgent":      "user agent",
	"request.eventCount":     "number of events",
}

// indexed names a[b]: an object by its own name where it is one.
func (w *walker) indexed(operand, index celast.Expr, s *scope) name {
	base := w.name(operand, s)
	value, err := w.eval(index, s)
	if err != nil {
		return name{what: base.what + "[" + w.x.Text(index) + "]", owner: base.owner}
	}
	if key, ok := value.(types.String); ok {
		return w.selected(operand, string(key), s)
	}
	if list, err := w.eval(operand, s); err == nil {
		if indexer, ok := list.(traits.Indexer); ok {
			if object, ok := objectName(indexer.Get(value)); ok {
				return name{owner: object}
			}
		}
	}
	return name{what: base.what + "[" + show(value) + "]", owner: base.owner}
}

// field is the full path of has(…)'s operand as CEL.
func (w *walker) field(e celast.Expr, s *scope) string {
	return w.x.Text(e.AsSelect().Operand()) + "." + e.AsSelect().FieldName()
}

// isSubject reports whether e is the check's object as a whole.
func (w *walker) isSubject(e celast.Expr) bool {
	return e.Kind() == celast.IdentKind && e.AsIdent() == "object"
}

// absent says that what e names is not there.
func (w *walker) absent(e celast.Expr, s *scope) string {
	switch {
	case w.isSubject(e) && w.subject.Object != "":
		return "there is no " + w.subject.Object + " yet"
	case e.Kind() == celast.IdentKind && e.AsIdent() == "old":
		return w.subject.Object + " has not changed yet"
	}
	return w.say(e, s) + " is not set"
}

// present says that what e names is there, and should not be.
func (w *walker) present(e celast.Expr, saw ref.Val, s *scope) string {
	switch {
	case w.isSubject(e) && w.subject.Object != "":
		return w.subject.Object + " still exists"
	case e.Kind() == celast.IdentKind && e.AsIdent() == "old":
		return w.subject.Object + " has a version before"
	}
	return fmt.Sprintf("%s is set, to %s; expected none", w.say(e, s), show(saw))
}

// stripVariable removes "object." where it begins a path.
func stripVariable(text, variable string) string {
	return regexp.MustCompile(`(^|[^\w.])`+regexp.QuoteMeta(variable)+`\.`).ReplaceAllString(text, "$1")
}

// thereAre counts things: "there are no Pods in api-lab yet", "there is 1 Pod in api-lab".
func thereAre(n int, noun Noun) string {
	switch n {
	case 0:
		return strings.TrimSpace("there are no "+noun.Many+" "+noun.Where) + " yet"
	case 1:
		return strings.TrimSpace("there is 1 " + noun.One + " " + noun.Where)
	}
	return strings.TrimSpace(fmt.Sprintf("there are %d %s %s", n, noun.Many, noun.Where))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// singular of a field that holds a list: "containers", "ownerReferences", "policies".
func singular(plural string) string {
	switch {
	case strings.HasSuffix(plural, "ies"):
		return strings.TrimSuffix(plural, "ies") + "y"
	case strings.HasSuffix(plural, "sses"), strings.HasSuffix(plural, "xes"):
		return strings.TrimSuffix(plural, "es")
	case strings.HasSuffix(plural, "s") && !strings.HasSuffix(plural, "ss") && !strings.HasSuffix(plural, "status"):
		return strings.TrimSuffix(plural, "s")
	}
	return plural
}
