package expr

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTemplate(t *testing.T) {
	t.Parallel()
	vars := Vars{
		"object": object{"metadata": object{"name": "red"}, "spec": object{"n": int64(3), "on": true, "tags": []any{"a", "b"}, "deep": object{"x": int64(1)}}},
		"each":   int64(7), "now": time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC), "pods": []any{object{"a": int64(1)}},
	}
	for _, tt := range []struct{ text, want any }{
		{"plain", "plain"},
		{"", ""},
		{"${object.metadata.name}", "red"},
		{"vm-${object.metadata.name}-${each}", "vm-red-7"},
		{"${object.spec.n}", int64(3)},
		{"${object.spec.n * 2}", int64(6)},
		{"${object.spec.on} and ${object.spec.tags}", `true and ["a","b"]`},
		{"${object.spec.tags}", []any{"a", "b"}},
		{"${object.spec.deep}", object{"x": int64(1)}},
		{"${object.spec.?none}", nil},
		{"${object.spec.?none.orValue(null)}", nil},
		{"${now}", "2026-01-31T10:00:00Z"},
		{"${quantity('1Gi')}", "1Gi"},
		{"${duration('90s')}", "1m30s"},
		{"${pods.size() == 1 ? {'a': '}'} : {}}", object{"a": "}"}},
		{"${'\\'}' + \"}\"}", "'}}"},
		{"$${HOME} is ${each}", "${HOME} is 7"},
		{"$$${each}", "$${each}"},
		{"100 $", "100 $"},
		{object{"a": []any{"${each}", true, int64(1), nil}}, object{"a": []any{int64(7), true, int64(1), nil}}},
	} {
		template, errs := NewTemplate(tt.text, Control, "pods")
		if len(errs) > 0 {
			t.Errorf("%v: %v", tt.text, errs[0])
			continue
		}
		if got, err := template.Render(vars); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%v = %#v, %v; want %#v", tt.text, got, err, tt.want)
		}
	}
}

func TestTemplateErrors(t *testing.T) {
	t.Parallel()
	_, errs := NewTemplate(object{"b": []any{"ok", "${objekt}"}, "a": "${each"}, Control)
	if len(errs) != 2 || errs[0].Path != ".a" || errs[1].Path != ".b[1]" || !strings.Contains(errs[1].Error(), "undeclared reference to 'objekt'") {
		t.Errorf("%v", errs)
	}
	for text, want := range map[string]string{
		"${object.spec.x}":   ".f: object.spec.x cannot be evaluated: no such key: x",
		"${dyn({1: 'a'})}":   "the key 1 of a map is no text",
		"${1.0 / 0.0}":       "no number of JSON's",
		"${type(object)}":    "a value of type type has no place in an object",
		"a ${object.spec.x}": "no such key: x",
	} {
		template, errs := NewTemplate(object{"f": text}, Control)
		if len(errs) > 0 {
			t.Errorf("%s: %v", text, errs[0])
			continue
		}
		if _, err := template.Render(Vars{"object": object{"spec": object{}}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v; want %s", text, err, want)
		}
	}
}
