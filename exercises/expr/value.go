package expr

import (
	"encoding/base64"
	"fmt"
	"math"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// Value evaluates an expression to what JSON can hold: nil, bool, int64, float64, string, []any and map[string]any. Times and
// durations become text as in Kubernetes' objects, an optional without a value becomes nil.
func (x *Expression) Value(vars Vars) (any, error) {
	v, err := x.EvalAt(x.Root(), vars, nil)
	if err != nil {
		return nil, err
	}
	return native(v)
}

func native(v ref.Val) (any, error) {
	switch v := v.(type) {
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		if uint64(v) > math.MaxInt64 {
			return nil, fmt.Errorf("%d is not a 64-bit whole number", uint64(v))
		}
		return int64(v), nil
	case types.Double:
		if f := float64(v); !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f, nil
		}
		return nil, fmt.Errorf("%v is no number of JSON's", v)
	case types.String:
		return string(v), nil
	case types.Bytes:
		return base64.StdEncoding.EncodeToString(v), nil
	case types.Timestamp:
		return v.UTC().Format(time.RFC3339), nil
	case types.Duration:
		return v.Duration.String(), nil
	case *types.Optional:
		if !v.HasValue() {
			return nil, nil
		}
		return native(v.GetValue())
	case apiservercel.Quantity:
		return v.String(), nil
	case traits.Mapper:
		return nativeMap(v)
	case traits.Lister:
		return nativeList(v)
	}
	return nil, fmt.Errorf("a value of type %s has no place in an object", v.Type().TypeName())
}

func nativeMap(m traits.Mapper) (any, error) {
	object := map[string]any{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, ok := key.(types.String)
		if !ok {
			return nil, fmt.Errorf("the key %v of a map is no text", key)
		}
		value, err := native(m.Get(key))
		if err != nil {
			return nil, err
		}
		object[string(name)] = value
	}
	return object, nil
}

func nativeList(l traits.Lister) (any, error) {
	list := []any{}
	for it := l.Iterator(); it.HasNext() == types.True; {
		value, err := native(it.Next())
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, nil
}
