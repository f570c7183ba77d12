package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// merge returns target with a merge patch (RFC 7386) applied. Neither is changed.
func merge(target, patch map[string]any) map[string]any {
	merged := maps.Clone(target)
	if merged == nil {
		merged = map[string]any{}
	}
	for key, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(merged, key)
		case map[string]any:
			inner, _ := merged[key].(map[string]any)
			merged[key] = merge(inner, value)
		default:
			merged[key] = value
		}
	}
	return merged
}

// over returns base with layer laid over it: a field of layer that is null hides that of base.
func over(base, layer map[string]any) map[string]any {
	merged := maps.Clone(base)
	for key, value := range layer {
		inner, ok := value.(map[string]any)
		below, both := merged[key].(map[string]any)
		if ok && both {
			merged[key] = over(below, inner)
		} else {
			merged[key] = value
		}
	}
	return merged
}

func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		clean := make(map[string]any, len(value))
		for key, v := range value {
			if v != nil {
				clean[key] = withoutNulls(v)
			}
		}
		return clean
	case []any:
		clean := make([]any, len(value))
		for i, v := range value {
			clean[i] = withoutNulls(v)
		}
		return clean
	}
	return value
}

// difference returns the path of the first thing in which two values differ, and whether there is one.
func difference(a, b any, path string) (string, bool) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return path, true
		}
		for _, key := range slices.Sorted(maps.Keys(maps.Collect(both(x, y)))) {
			if at, differs := difference(x[key], y[key], join(path, key)); differs {
				return at, true
			}
		}
		return "", false
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return path, true
		}
		for i := range x {
			if at, differs := difference(x[i], y[i], path+"["+strconv.Itoa(i)+"]"); differs {
				return at, true
			}
		}
		return "", false
	}
	return path, !same(a, b)
}

func both(a, b map[string]any) func(yield func(string, bool) bool) {
	return func(yield func(string, bool) bool) {
		for _, m := range []map[string]any{a, b} {
			for key := range m {
				if !yield(key, true) {
					return
				}
			}
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// same compares values that are neither objects nor lists: a number is the same however it is written.
func same(a, b any) bool {
	x, okX := number(a)
	y, okY := number(b)
	if okX || okY {
		return okX && okY && x == y
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// within reports whether live has all that want says; it may have more, as defaults and other managers' fields.
func within(want, live any) bool {
	switch want := want.(type) {
	case map[string]any:
		have, ok := live.(map[string]any)
		if !ok {
			return len(want) == 0 && live == nil
		}
		for key, value := range want {
			if !within(value, have[key]) {
				return false
			}
		}
		return true
	case []any:
		have, ok := live.([]any)
		if !ok {
			return len(want) == 0 && live == nil
		}
		return listWithin(want, have)
	}
	return same(want, live)
}

// listWithin compares lists item by item. One that is longer than was said can only be a list of objects with keys, of
// which others have added some.
func listWithin(want, have []any) bool {
	if len(want) == len(have) {
		for i := range want {
			if !within(want[i], have[i]) {
				return false
			}
		}
		return true
	}
	for _, item := range want {
		if _, ok := item.(map[string]any); !ok || !slices.ContainsFunc(have, func(h any) bool { return within(item, h) }) {
			return false
		}
	}
	return len(want) > 0
}

// mergeConditions puts conditions into a list of them by their type. The time of a transition is kept while the status is,
// and is now otherwise; a condition without a status goes.
func mergeConditions(have, want []any) ([]any, error) {
	merged := slices.Clone(have)
	for i, item := range want {
		condition, ok := item.(map[string]any)
		name, named := condition["type"].(string)
		if !ok || !named {
			return nil, fmt.Errorf(".conditions[%d] has no type", i)
		}
		at := slices.IndexFunc(merged, func(other any) bool {
			o, _ := other.(map[string]any)
			return o["type"] == name
		})
		if condition["status"] == nil {
			if at >= 0 {
				merged = slices.Delete(merged, at, at+1)
			}
			continue
		}
		condition = withoutNulls(condition).(map[string]any)
		const when = "lastTransitionTime"
		_, said := condition[when]
		if at < 0 {
			if !said {
				condition[when] = time.Now().UTC().Format(time.RFC3339)
			}
			merged = append(merged, condition)
			continue
		}
		before := merged[at].(map[string]any)
		switch {
		case said:
		case before["status"] != condition["status"]:
			condition[when] = time.Now().UTC().Format(time.RFC3339)
		case before[when] != nil:
			condition[when] = before[when]
		}
		merged[at] = condition
	}
	if merged == nil {
		merged = []any{}
	}
	return merged, nil
}
