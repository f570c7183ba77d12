package exercises

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/apilab/apilab/exercises/spelling"
)

// Bounds of a file, so that no file can take the loader's memory or time.
const (
	maxFile  = 256 << 10 // bytes
	maxNodes = 20_000    // YAML nodes, aliases followed
	maxDepth = 64
)

// A decoder turns YAML nodes into the types of this package by their json tags. It is strict (unknown and doubled
// fields are problems), goes on after a problem, and remembers the node of each field for later messages.
type decoder struct {
	what     string                // the file holds: exercise, backdrop
	nodes    map[string]*yaml.Node // by path, "checks[0].hints[1].when"
	budget   int
	exceeded bool // said so
	problems []Problem
}

func (d *decoder) problem(node *yaml.Node, format string, args ...any) {
	d.problems = append(d.problems, Problem{Line: node.Line, Message: fmt.Sprintf(format, args...)})
}

// decode fills into from node. Its depth counts what is around it.
func (d *decoder) decode(node *yaml.Node, into reflect.Value, path string, depth int) {
	if d.budget--; d.budget < 0 || depth > maxDepth {
		if !d.exceeded {
			d.problem(node, "the file is nested too deep or, with its aliases, too large")
		}
		d.exceeded = true
		return
	}
	d.nodes[path] = node
	if node.Kind == yaml.AliasNode {
		d.decode(node.Alias, into, path, depth+1)
		return
	}
	if strings.HasPrefix(node.Tag, "!") && !strings.HasPrefix(node.Tag, "!!") {
		d.problem(node, "%s begins with %q, which YAML takes for a tag: put it in quotes", d.label(path), node.Tag)
		return
	}
	switch {
	case into.Type() == reflect.TypeFor[time.Duration]():
		d.duration(node, into, path)
	case into.Kind() == reflect.Pointer:
		if into.IsNil() {
			into.Set(reflect.New(into.Type().Elem()))
		}
		d.decode(node, into.Elem(), path, depth)
	case into.Kind() == reflect.Struct:
		d.structure(node, into, path, depth)
	case into.Kind() == reflect.Map:
		d.mapping(node, into, path, depth)
	case into.Kind() == reflect.Slice:
		d.sequence(node, into, path, depth)
	case into.Kind() == reflect.Interface:
		if v := d.free(node, path, depth); v != nil {
			into.Set(reflect.ValueOf(v))
		}
	case node.Kind != yaml.ScalarNode:
		d.problem(node, "%s must be %s, not %s", d.label(path), wanted(into), found(node))
	case into.Kind() == reflect.String:
		if node.Tag != "!!null" {
			into.SetString(node.Value)
		}
	case into.Kind() == reflect.Bool:
		switch node.Value {
		case "true":
			into.SetBool(true)
		case "false":
			into.SetBool(false)
		default:
			d.problem(node, "%s must be true or false, not %q", d.label(path), node.Value)
		}
	}
}

func (d *decoder) duration(node *yaml.Node, into reflect.Value, path string) {
	v, err := time.ParseDuration(node.Value)
	if node.Kind != yaml.ScalarNode || err != nil {
		d.problem(node, "%s must be a time with its unit, such as 5s, not %s", d.label(path), found(node))
		return
	}
	into.SetInt(int64(v))
}

func (d *decoder) structure(node *yaml.Node, into reflect.Value, path string, depth int) {
	if node.Kind != yaml.MappingNode {
		d.problem(node, "%s must be %s, not %s", d.label(path), wanted(into), found(node))
		return
	}
	fields := map[string]reflect.Value{}
	collectFields(into, fields)
	d.pairs(node, path, func(key, value *yaml.Node) {
		field, ok := fields[key.Value]
		if ok {
			d.decode(value, field, join(path, key.Value), depth+1)
			return
		}
		var names []string
		for name := range fields {
			names = append(names, name)
		}
		if near, ok := spelling.Nearest(key.Value, names); ok {
			d.problem(key, "unknown field %q in %s; did you mean %q?", key.Value, d.label(path), near)
			return
		}
		d.problem(key, "unknown field %q in %s", key.Value, d.label(path))
	})
}

// collectFields finds the fields of a struct by their names in a file; an embedded struct's count as its own.
func collectFields(v reflect.Value, into map[string]reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous {
			collectFields(v.Field(i), into)
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.IsExported() && name != "-" && name != "" {
			into[name] = v.Field(i)
		}
	}
}

// pairs calls fn for each key and value of a mapping, and finds doubled keys.
func (d *decoder) pairs(node *yaml.Node, path string, fn func(key, value *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			d.problem(key, "a key of %s must be a plain word", d.label(path))
			continue
		}
		if line, ok := seen[key.Value]; ok {
			d.problem(key, "%q is set twice in %s, first in line %d", key.Value, d.label(path), line)
			continue
		}
		seen[key.Value] = key.Line
		fn(key, value)
	}
}

func (d *decoder) mapping(node *yaml.Node, into reflect.Value, path string, depth int) {
	if node.Kind != yaml.MappingNode {
		d.problem(node, "%s must be %s, not %s", d.label(path), wanted(into), found(node))
		return
	}
	into.Set(reflect.MakeMap(into.Type()))
	d.pairs(node, path, func(key, value *yaml.Node) {
		element := reflect.New(into.Type().Elem()).Elem()
		d.decode(value, element, join(path, key.Value), depth+1)
		into.SetMapIndex(reflect.ValueOf(key.Value), element)
	})
}

func (d *decoder) sequence(node *yaml.Node, into reflect.Value, path string, depth int) {
	if node.Kind != yaml.SequenceNode {
		d.problem(node, "%s must be %s, not %s", d.label(path), wanted(into), found(node))
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(node.Content), len(node.Content)))
	for i, item := range node.Content {
		d.decode(item, into.Index(i), fmt.Sprintf("%s[%d]", path, i), depth+1)
	}
}

// free decodes what has no fixed type, as JSON would: integers become int64, keys strings.
func (d *decoder) free(node *yaml.Node, path string, depth int) any {
	switch node.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		d.mapping(node, reflect.ValueOf(&m).Elem(), path, depth)
		return m
	case yaml.SequenceNode:
		var s []any
		d.sequence(node, reflect.ValueOf(&s).Elem(), path, depth)
		return s
	case yaml.ScalarNode:
		switch node.Tag {
		case "!!null":
			return nil
		case "!!bool":
			var b bool
			if node.Decode(&b) == nil {
				return b
			}
		case "!!int":
			var i int64
			if node.Decode(&i) == nil {
				return i
			}
			d.problem(node, "%s is not a 64-bit whole number", d.label(path))
		case "!!float":
			if f, err := strconv.ParseFloat(node.Value, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
				return f
			}
		}
		return node.Value
	}
	return nil
}

// label names a field in a message.
func (d *decoder) label(path string) string {
	if path == "" {
		return "the " + d.what
	}
	return path
}

func join(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}

func wanted(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Struct, reflect.Map:
		return "fields with values"
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "true or false"
	default:
		return "text"
	}
}

func found(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Kind == yaml.MappingNode:
		return "fields with values"
	case node.Tag == "!!null":
		return "empty"
	default:
		return strconv.Quote(node.Value)
	}
}
