package tools

import (
	"bufio"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// jsonWriter prints values as jq does.
type jsonWriter struct {
	w *bufio.Writer
	o *jqOptions
}

// Colours of jq 1.7: null, booleans, numbers, strings, arrays, objects, keys.
const (
	cNull, cBool, cNumber, cString = "1;30", "0;39", "0;39", "0;32"
	cArray, cObject, cKey          = "1;39", "1;39", "34;1"
)

func (j *jsonWriter) print(v any) error {
	if j.o.seq {
		j.w.WriteByte(0x1e)
	}
	if s, ok := v.(string); ok && j.o.raw {
		j.w.WriteString(s)
	} else {
		j.value(v, 0)
	}
	if !j.o.join {
		j.w.WriteByte('\n')
	}
	if j.w.Buffered() > 2048 {
		return j.w.Flush()
	}
	return nil
}

func (j *jsonWriter) paint(color, text string) {
	if j.o.color {
		text = "\x1b[" + color + "m" + text + "\x1b[0m"
	}
	j.w.WriteString(text)
}

func (j *jsonWriter) newline(depth int) {
	if j.o.compact {
		return
	}
	unit := strings.Repeat(" ", j.o.indent)
	if j.o.tab {
		unit = "\t"
	}
	j.w.WriteString("\n" + strings.Repeat(unit, depth))
}

func (j *jsonWriter) scalar(v any) string {
	b, err := gojq.Marshal(v)
	if err != nil {
		return "null"
	}
	text := string(b)
	if !j.o.ascii {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case r < 0x10000:
			out.WriteString(`\u` + pad4(int64(r)))
		default:
			r -= 0x10000
			out.WriteString(`\u` + pad4(int64(0xd800+(r>>10))) + `\u` + pad4(int64(0xdc00+(r&0x3ff))))
		}
	}
	return out.String()
}

func pad4(n int64) string {
	h := strconv.FormatInt(n, 16)
	return strings.Repeat("0", 4-len(h)) + h
}

func (j *jsonWriter) value(v any, depth int) {
	switch v := v.(type) {
	case nil:
		j.paint(cNull, "null")
	case bool:
		j.paint(cBool, strconv.FormatBool(v))
	case string:
		j.paint(cString, j.scalar(v))
	case []any:
		if len(v) == 0 {
			j.paint(cArray, "[]")
			return
		}
		j.paint(cArray, "[")
		for i, e := range v {
			if i > 0 {
				j.paint(cArray, ",")
			}
			j.newline(depth + 1)
			j.value(e, depth+1)
		}
		j.newline(depth)
		j.paint(cArray, "]")
	case map[string]any:
		if len(v) == 0 {
			j.paint(cObject, "{}")
			return
		}
		j.paint(cObject, "{")
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				j.paint(cObject, ",")
			}
			j.newline(depth + 1)
			j.paint(cKey, j.scalar(k))
			j.paint(cObject, ":")
			if !j.o.compact {
				j.w.WriteByte(' ')
			}
			j.value(v[k], depth+1)
		}
		j.newline(depth)
		j.paint(cObject, "}")
	default:
		j.paint(cNumber, j.scalar(v))
	}
}
