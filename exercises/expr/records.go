package expr

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// The record types have fields that are known when an expression is compiled, so that `request.verbb` is found by lint
// and not by a learner. Their values are map[string]any with all fields set.
var (
	requestType = types.NewObjectType("apilab.Request")
	statusType  = types.NewObjectType("apilab.Status")
	eventType   = types.NewObjectType("apilab.Event")
	stepType    = types.NewObjectType("apilab.StepResult")
)

var recordFields = map[string]map[string]*types.Type{
	"apilab.Request": {
		"id":           types.IntType,
		"time":         types.TimestampType,
		"duration":     types.DurationType,
		"done":         types.BoolType,
		"method":       types.StringType,
		"path":         types.StringType,
		"query":        types.NewMapType(types.StringType, types.StringType), // first value of each parameter
		"verb":         types.StringType,
		"group":        types.StringType,
		"version":      types.StringType,
		"resource":     types.StringType,
		"subresource":  types.StringType,
		"namespace":    types.StringType,
		"name":         types.StringType,
		"contentType":  types.StringType,
		"accept":       types.StringType,
		"fieldManager": types.StringType,
		"userAgent":    types.StringType,
		"user":         types.StringType,
		"body":         types.DynType,
		"response":     types.DynType,
		"status":       statusType,
		"events":       types.NewListType(eventType),
		"eventCount":   types.IntType,
	},
	"apilab.Status": {
		"code":    types.IntType,
		"reason":  types.StringType,
		"message": types.StringType,
	},
	"apilab.Event": {
		"type":   types.StringType,
		"object": types.DynType,
	},
	"apilab.StepResult": {
		"ok":      types.BoolType,
		"code":    types.IntType,
		"reason":  types.StringType,
		"message": types.StringType,
		"object":  types.DynType,
		// Of observe; of other steps there are none.
		"requests": types.NewListType(requestType),
	},
}

// records adds the record types to whatever types the environment has so far.
func records() cel.EnvOption {
	return func(env *cel.Env) (*cel.Env, error) {
		return cel.CustomTypeProvider(recordProvider{env.CELTypeProvider()})(env)
	}
}

type recordProvider struct{ types.Provider }

func (p recordProvider) FindStructType(name string) (*types.Type, bool) {
	if _, ok := recordFields[name]; ok {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

func (p recordProvider) FindStructFieldNames(name string) ([]string, bool) {
	fields, ok := recordFields[name]
	if !ok {
		return p.Provider.FindStructFieldNames(name)
	}
	var names []string
	for field := range fields {
		names = append(names, field)
	}
	return names, true
}

func (p recordProvider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	fields, ok := recordFields[name]
	if !ok {
		return p.Provider.FindStructFieldType(name, field)
	}
	t, ok := fields[field]
	if !ok {
		return nil, false
	}
	return &types.FieldType{
		Type: t,
		// has() asks whether there is something in it: an empty string and a null body are as good as none.
		IsSet: func(record any) bool {
			switch v := fieldOf(record, field).(type) {
			case nil:
				return false
			case string:
				return v != ""
			default:
				return true
			}
		},
		GetFrom: func(record any) (any, error) { return fieldOf(record, field), nil },
	}, true
}

func fieldOf(record any, field string) any {
	m, _ := record.(map[string]any)
	return m[field]
}
