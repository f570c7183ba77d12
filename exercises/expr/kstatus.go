package expr

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// kstatus is the function of that name: kstatus(object) is {status, message}, as sigs.k8s.io/cli-utils computes it for
// kubectl's and other tools' waiting. The status is Current, InProgress, Failed, Terminating, NotFound (of null) or
// Unknown.
func kstatus() cel.EnvOption {
	result := cel.MapType(cel.StringType, cel.StringType)
	return cel.Function("kstatus", cel.Overload("kstatus_dyn", []*cel.Type{cel.DynType}, result, cel.UnaryBinding(func(v ref.Val) ref.Val {
		verdict, err := computeStatus(v)
		if err != nil {
			return types.NewErr("kstatus: %v", err)
		}
		return types.DefaultTypeAdapter.NativeToValue(map[string]string{
			"status": verdict.Status.String(), "message": verdict.Message,
		})
	})))
}

func computeStatus(v ref.Val) (*status.Result, error) {
	if v == types.NullValue {
		return &status.Result{Status: status.NotFoundStatus, Message: "Resource not found"}, nil
	}
	object, ok := v.Value().(map[string]any)
	if !ok { // a map that the expression made
		native, err := v.ConvertToNative(reflect.TypeFor[*structpb.Value]())
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(native)
		if err != nil {
			return nil, err
		}
		if err := utiljson.Unmarshal(text, &object); err != nil {
			return nil, fmt.Errorf("it is no object: %w", err)
		}
	}
	return status.Compute(&unstructured.Unstructured{Object: object})
}
