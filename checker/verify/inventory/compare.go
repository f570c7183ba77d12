package inventory

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A Change is a difference between two inventories.
type Change struct {
	Key
	Kind  ChangeKind
	Field string // of Changed: the first that differs, "metadata.labels.a"
}

// A ChangeKind says what became of an object.
type ChangeKind string

const (
	Added    ChangeKind = "is there"           // and was not before
	Removed  ChangeKind = "is gone"            //
	Replaced ChangeKind = "was made anew"      // it has another UID
	Changed  ChangeKind = "is not what it was" // its content differs
)

func (c Change) String() string {
	if c.Field != "" {
		return c.Key.String() + " " + string(c.Kind) + " (" + c.Field + ")"
	}
	return c.Key.String() + " " + string(c.Kind)
}

// Compare returns what became of a cluster, by key. What comes and goes by itself does not count.
func Compare(before, after Inventory) []Change {
	var changes []Change
	for key, object := range after {
		old, was := before[key]
		switch {
		case passes(key):
		case !was:
			changes = append(changes, Change{Key: key, Kind: Added})
		case old.UID != object.UID:
			changes = append(changes, Change{Key: key, Kind: Replaced})
		default:
			if field := difference("", old.Content, object.Content); field != "" {
				changes = append(changes, Change{key, Changed, field})
			}
		}
	}
	for key := range before {
		if _, is := after[key]; !is && !passes(key) {
			changes = append(changes, Change{Key: key, Kind: Removed})
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Key.String(), b.Key.String()) })
	return changes
}

// difference returns the path of the first field that differs, "" if none does.
func difference(path string, a, b any) string {
	x, xok := a.(map[string]any)
	y, yok := b.(map[string]any)
	if !xok || !yok {
		if reflect.DeepEqual(a, b) {
			return ""
		}
		return path
	}
	keys := maps.Clone(x)
	maps.Copy(keys, y)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if field := difference(strings.TrimPrefix(path+"."+key, "."), x[key], y[key]); field != "" {
			return field
		}
	}
	return ""
}
