package simulation

import (
	"reflect"
	"testing"
)

type object = map[string]any

func TestMerge(t *testing.T) {
	t.Parallel()
	target := object{"a": int64(1), "b": object{"c": int64(2), "d": int64(3)}, "l": []any{"x"}}
	got := merge(target, object{"a": nil, "b": object{"c": int64(4)}, "l": []any{}, "n": object{"x": nil, "y": true}, "z": nil})
	want := object{"b": object{"c": int64(4), "d": int64(3)}, "l": []any{}, "n": object{"y": true}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	if target["a"] != int64(1) || target["b"].(object)["c"] != int64(2) {
		t.Error("the target was changed")
	}
	if got := over(object{"a": object{"b": 1, "c": 2}, "d": 3}, object{"a": object{"b": nil}, "d": object{}}); !reflect.DeepEqual(got, object{"a": object{"b": nil, "c": 2}, "d": object{}}) {
		t.Errorf("over: %v", got)
	}
	if got := withoutNulls(object{"a": nil, "l": []any{object{"b": nil}}}); !reflect.DeepEqual(got, object{"l": []any{object{}}}) {
		t.Errorf("without nulls: %v", got)
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b any
		want string // path; "=": none
	}{
		{object{"a": int64(1)}, object{"a": 1.0}, "="},
		{object{"a": []any{int64(1), "x"}}, object{"a": []any{int64(1), "y"}}, "a[1]"},
		{object{"a": []any{"x"}}, object{"a": []any{}}, "a"},
		{object{"a": object{"b": true}}, object{"a": object{"b": true, "c": "x"}}, "a.c"},
		{object{"a": object{}}, object{"a": "x"}, "a"},
		{object{"a": "1"}, object{"a": int64(1)}, "a"},
		{object{"a": "x"}, object{"a": []any{"x"}}, "a"},
		{object{}, object{"a": nil}, "="}, // a merge patch leaves no nulls
	} {
		got, differs := difference(tt.a, tt.b, "")
		if !differs {
			got = "="
		}
		if got != tt.want {
			t.Errorf("%v and %v differ in %q; want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		want, live any
		is         bool
	}{
		{object{"a": int64(1)}, object{"a": int64(1), "b": "default"}, true},
		{object{"a": int64(1)}, object{"a": int64(2)}, false},
		{object{"a": object{}}, object{}, true}, // the API server drops what is empty
		{object{"a": []any{}}, object{}, true},
		{object{"a": []any{object{"name": "x"}}}, object{"a": []any{object{"name": "x", "port": int64(1)}}}, true},
		{object{"a": []any{object{"name": "x"}}}, object{"a": []any{object{"name": "y"}, object{"name": "x"}}}, true},
		{object{"a": []any{object{"name": "x"}}}, object{"a": []any{object{"name": "y"}}}, false},
		{object{"a": []any{"x"}}, object{"a": []any{"x", "y"}}, false},
		{object{"a": []any{"x", "y"}}, object{"a": []any{"x"}}, false},
		{object{"a": "x"}, object{}, false},
		{object{"a": object{"b": "x"}}, object{"a": "x"}, false},
	} {
		if got := within(tt.want, tt.live); got != tt.is {
			t.Errorf("%v within %v: %v", tt.want, tt.live, got)
		}
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	const then = "2026-01-31T10:00:00Z"
	have := []any{
		object{"type": "Ready", "status": "False", "reason": "Old", "message": "old", "lastTransitionTime": then},
		object{"type": "Other", "status": "True"},
		object{"type": "Gone", "status": "True"},
	}
	got, err := mergeConditions(have, []any{
		object{"type": "Ready", "status": "False", "reason": "New"},
		object{"type": "Gone", "status": nil},
		object{"type": "Other", "status": "False"},
		object{"type": "Fixed", "status": "True", "lastTransitionTime": then},
	})
	if err != nil || len(got) != 3 {
		t.Fatalf("%v, %v", got, err)
	}
	if !reflect.DeepEqual(got[0], object{"type": "Ready", "status": "False", "reason": "New", "lastTransitionTime": then}) {
		t.Errorf("the same status: %v", got[0])
	}
	if other := got[1].(object); other["status"] != "False" || other["lastTransitionTime"] == nil {
		t.Errorf("another status: %v", other)
	}
	if fixed := got[2].(object); fixed["lastTransitionTime"] != then {
		t.Errorf("a time that is said: %v", fixed)
	}
	if again, err := mergeConditions(got, []any{object{"type": "Ready", "status": "False", "reason": "New"}}); err != nil || !reflect.DeepEqual(again, got) {
		t.Errorf("not idempotent: %v, %v", again, err)
	}
	if _, err := mergeConditions(nil, []any{object{"status": "True"}}); err == nil {
		t.Error("a condition without a type")
	}
}
