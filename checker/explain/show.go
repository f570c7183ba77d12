package explain

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// Bounds of a value in a sentence.
const (
	maxText  = 60  // runes of a string
	maxItems = 5   // of a list or map
	maxShown = 120 // runes of the whole
)

// show writes a value for a learner: short, in the notation of JSON, objects by their names.
func show(v ref.Val) string {
	return shorten(showNested(v, 3), maxShown)
}

func showNested(v ref.Val, depth int) string {
	switch v := v.(type) {
	case types.Null:
		return "null"
	case types.String:
		return strconv.Quote(shorten(string(v), maxText))
	case types.Bool, types.Int, types.Uint, types.Double:
		return fmt.Sprint(v.Value())
	case types.Timestamp:
		return v.Time.UTC().Format(time.RFC3339)
	case types.Duration:
		return v.Duration.String()
	case types.Bytes:
		return count(len(v), "byte", "bytes")
	case *types.Optional:
		if v.HasValue() {
			return showNested(v.GetValue(), depth)
		}
		return "nothing"
	case traits.Lister:
		return "[" + items(v, depth) + "]"
	case traits.Mapper:
		if object, ok := objectName(v); ok {
			return object
		}
		return "{" + items(v, depth) + "}"
	}
	if stringer, ok := v.Value().(fmt.Stringer); ok {
		return stringer.String()
	}
	return v.Type().TypeName()
}

// items writes the first few of a list's items or a map's entries.
func items(v traits.Iterable, depth int) string {
	if depth == 0 {
		return "…"
	}
	mapper, isMap := v.(traits.Mapper)
	var shown []string
	for it := v.Iterator(); it.HasNext() == types.True; {
		if len(shown) == maxItems {
			shown = append(shown, "…")
			break
		}
		item := it.Next()
		if isMap {
			shown = append(shown, fmt.Sprintf("%v: %s", item.Value(), showNested(mapper.Get(item), depth-1)))
			continue
		}
		shown = append(shown, showNested(item, depth-1))
	}
	return strings.Join(shown, ", ")
}

// showItems writes a list without its brackets.
func showItems(v ref.Val) string {
	if list, ok := v.(traits.Lister); ok {
		return items(list, 2)
	}
	return show(v)
}

func few(shown []string) string {
	if len(shown) > maxItems {
		shown = append(shown[:maxItems:maxItems], "…")
	}
	return shorten(strings.Join(shown, ", "), maxShown)
}

func shorten(s string, bound int) string {
	runes := []rune(s)
	if len(runes) <= bound {
		return s
	}
	return string(runes[:bound-1]) + "…"
}

// objectName names a Kubernetes object: "Pod web-1".
func objectName(v ref.Val) (string, bool) {
	object, ok := v.(traits.Mapper)
	if !ok {
		return "", false
	}
	metadata, ok := object.Find(types.String("metadata"))
	if !ok {
		return "", false
	}
	fields, ok := metadata.(traits.Mapper)
	if !ok {
		return "", false
	}
	text := func(m traits.Mapper, key string) string {
		value, _ := m.Find(types.String(key))
		s, _ := value.(types.String)
		return string(s)
	}
	kind, name := text(object, "kind"), text(fields, "name")
	if kind == "" || name == "" {
		return "", false
	}
	return kind + " " + name, true
}
