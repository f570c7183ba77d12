package expr

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// A Template is a value of JSON's kinds whose texts may hold ${…}, expressions. Safe for concurrent use.
type Template struct {
	value any // a map[string]any or []any of *Template, a []segment, or what stays as it is
	path  string
}

// A segment of a text is a literal or an expression.
type segment struct {
	literal    string
	expression *Expression
}

// A TemplateError is one thing that is wrong in a template, at a path such as ".spec.items[2]" below its root.
type TemplateError struct {
	Path string
	Err  error
}

func (e *TemplateError) Error() string { return strings.TrimPrefix(e.Path+": ", ": ") + e.Err.Error() }
func (e *TemplateError) Unwrap() error { return e.Err }

// NewTemplate compiles the expressions in value, of that kind. It returns all that is wrong in it.
func NewTemplate(value any, kind Kind, with ...string) (*Template, []*TemplateError) {
	c := templateCompiler{kind: kind, with: with}
	t := c.compile(value, "")
	if len(c.errs) > 0 {
		sort.SliceStable(c.errs, func(i, j int) bool { return c.errs[i].Path < c.errs[j].Path })
		return nil, c.errs
	}
	return t, nil
}

type templateCompiler struct {
	kind Kind
	with []string
	errs []*TemplateError
}

func (c *templateCompiler) compile(value any, path string) *Template {
	t := &Template{value: value, path: path}
	switch value := value.(type) {
	case map[string]any:
		fields := make(map[string]any, len(value))
		for key, v := range value {
			fields[key] = c.compile(v, path+"."+key)
		}
		t.value = fields
	case []any:
		items := make([]any, len(value))
		for i, v := range value {
			items[i] = c.compile(v, path+"["+strconv.Itoa(i)+"]")
		}
		t.value = items
	case string:
		t.value = c.text(value, path)
	}
	return t
}

func (c *templateCompiler) text(text, path string) []segment {
	var segments []segment
	for text != "" {
		literal, source, rest, err := cutExpression(text)
		if err != nil {
			c.errs = append(c.errs, &TemplateError{path, err})
			return nil
		}
		if literal != "" {
			segments = append(segments, segment{literal: literal})
		}
		if source != "" {
			x, err := CompileValue(source, c.kind, c.with...)
			if err != nil {
				c.errs = append(c.errs, &TemplateError{path, err})
				return nil
			}
			segments = append(segments, segment{expression: x})
		}
		text = rest
	}
	return segments
}

var errNotClosed = errors.New("a ${ is not closed; write $${ for one that stays")

// cutExpression returns the literal text up to the first ${…}, what is in that, and what follows it.
func cutExpression(text string) (literal, source, rest string, err error) {
	start := 0
	for {
		i := strings.Index(text[start:], "${")
		if i < 0 {
			return strings.ReplaceAll(text, "$${", "${"), "", "", nil
		}
		start += i
		if start == 0 || text[start-1] != '$' {
			break
		}
		start += len("${")
	}
	end := expressionEnd(text[start+2:])
	if end < 0 {
		return "", "", "", errNotClosed
	}
	source = text[start+2 : start+2+end]
	if strings.TrimSpace(source) == "" {
		return "", "", "", errors.New("there is nothing in ${}")
	}
	return strings.ReplaceAll(text[:start], "$${", "${"), source, text[start+2+end+1:], nil
}

// expressionEnd finds the brace that closes an expression: those in CEL's texts and maps do not.
func expressionEnd(text string) int {
	depth := 0
	var quote byte
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quote != 0:
			if b == '\\' {
				i++
			} else if b == quote {
				quote = 0
			}
		case b == '\'' || b == '"':
			quote = b
		case b == '{':
			depth++
		case b == '}' && depth > 0:
			depth--
		case b == '}':
			return i
		}
	}
	return -1
}

// Uses reports whether an expression of the template names the variable.
func (t *Template) Uses(variable string) bool {
	switch value := t.value.(type) {
	case map[string]any:
		for _, v := range value {
			if v.(*Template).Uses(variable) {
				return true
			}
		}
	case []any:
		for _, v := range value {
			if v.(*Template).Uses(variable) {
				return true
			}
		}
	case []segment:
		for _, s := range value {
			if s.expression != nil && s.expression.Uses(variable) {
				return true
			}
		}
	}
	return false
}

// Render evaluates the template. A text that is one expression becomes its value. The error is a *TemplateError.
func (t *Template) Render(vars Vars) (any, error) {
	switch value := t.value.(type) {
	case map[string]any:
		object := make(map[string]any, len(value))
		for key, v := range value {
			rendered, err := v.(*Template).Render(vars)
			if err != nil {
				return nil, err
			}
			object[key] = rendered
		}
		return object, nil
	case []any:
		list := make([]any, len(value))
		for i, v := range value {
			rendered, err := v.(*Template).Render(vars)
			if err != nil {
				return nil, err
			}
			list[i] = rendered
		}
		return list, nil
	case []segment:
		rendered, err := renderText(value, vars)
		if err != nil {
			return nil, &TemplateError{t.path, err}
		}
		return rendered, nil
	}
	return t.value, nil
}

func renderText(segments []segment, vars Vars) (any, error) {
	if len(segments) == 1 && segments[0].expression != nil {
		return value(segments[0].expression, vars)
	}
	var b strings.Builder
	for _, s := range segments {
		if s.expression == nil {
			b.WriteString(s.literal)
			continue
		}
		v, err := value(s.expression, vars)
		if err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case nil:
		case string:
			b.WriteString(v)
		default:
			data, err := json.Marshal(v)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.expression.Source(), err)
			}
			b.Write(data)
		}
	}
	return b.String(), nil
}

func value(x *Expression, vars Vars) (any, error) {
	v, err := x.Value(vars)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be evaluated: %w", strings.Join(strings.Fields(x.Source()), " "), err)
	}
	return v, nil
}
