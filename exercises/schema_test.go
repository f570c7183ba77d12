package exercises

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write schema.json anew")

// TestSchemaIsFresh keeps the schemas by which editors complete exercises and backdrops to the types.
func TestSchemaIsFresh(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]byte{"schema.json": schema(t), "backdrop.schema.json": backdropSchema(t)} {
		if *update {
			if err := os.WriteFile(file, want, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not of these types (%v): run go test ./exercises -update", file, err)
		}
	}
}

// reflector makes JSON schemas with the comments of the types as descriptions.
func reflector(t *testing.T) *jsonschema.Reflector {
	t.Helper()
	r := &jsonschema.Reflector{ExpandedStruct: true, Anonymous: true, Mapper: func(typ reflect.Type) *jsonschema.Schema {
		switch typ {
		case reflect.TypeFor[time.Duration]():
			return &jsonschema.Schema{Type: "string", Pattern: `^[0-9.]+(ms|s|m)$`}
		case reflect.TypeFor[Mode]():
			return &jsonschema.Schema{Type: "string", Enum: []any{Once, Holds}}
		}
		return nil
	}}
	if err := r.AddGoComments("github.com/apilab/apilab/exercises", ".", jsonschema.WithFullComment()); err != nil {
		t.Fatal(err)
	}
	return r
}

func backdropSchema(t *testing.T) []byte {
	t.Helper()
	s := reflector(t).Reflect(&Backdrop{})
	s.Title = "apilab backdrop"
	return encode(t, s)
}

func encode(t *testing.T, s *jsonschema.Schema) []byte {
	t.Helper()
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

// schema makes the schema of an exercise's file.
func schema(t *testing.T) []byte {
	t.Helper()
	s := reflector(t).Reflect(&Exercise{})
	s.Title = "apilab exercise"
	s.Required = slices.DeleteFunc(s.Required, func(field string) bool { return field == "solution" }) // of a quiz there is none
	kinds := []*jsonschema.Schema{}
	for _, kind := range []string{"object", "objects", "history", "request", "answer", "choice", "probe"} {
		kinds = append(kinds, &jsonschema.Schema{Required: []string{kind}})
	}
	s.Definitions["Check"].OneOf = kinds
	return encode(t, s)
}

// Every field that the loader knows is in the schema, and the other way round.
func TestSchemaKnowsTheFieldsOfTheLoader(t *testing.T) {
	t.Parallel()
	var s struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(schema(t), &s); err != nil {
		t.Fatal(err)
	}
	known := map[string]map[string]any{"Exercise": s.Properties}
	for name, def := range s.Defs {
		known[name] = def.Properties
	}
	for _, typ := range []any{Exercise{}, Check{}, Hint{}, ObjectRef{}, ObjectsRef{}, HistoryRef{}, RequestRef{}, Answer{}, Choice{}, Option{}, Probe{}, Step{}, PatchStep{}, WaitStep{}, ObserveStep{}, Wrong{}, Cluster{}, Controller{}, Stage{}, FinalizersAct{}, ApplyAct{}, DeleteAct{}, EventAct{}} {
		fields := map[string]reflect.Value{}
		collectFields(reflect.New(reflect.TypeOf(typ)).Elem(), fields)
		name := reflect.TypeOf(typ).Name()
		for field := range fields {
			if _, ok := known[name][field]; !ok {
				t.Errorf("the schema has no %s.%s", name, field)
			}
		}
		if len(known[name]) != len(fields) {
			t.Errorf("the schema has %d fields of %s, the loader %d", len(known[name]), name, len(fields))
		}
	}
}

// The reference for authors names every field, and its examples are exercises without a problem.
func TestFormatReference(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/exercise-format.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range []any{Exercise{}, Check{}, Hint{}, ObjectRef{}, ObjectsRef{}, HistoryRef{}, RequestRef{}, Answer{}, Choice{}, Option{}, Probe{}, Step{}, PatchStep{}, WaitStep{}, ObserveStep{}, Wrong{}, Cluster{}, Controller{}, Stage{}, FinalizersAct{}, ApplyAct{}, DeleteAct{}, EventAct{}, Backdrop{}} {
		fields := map[string]reflect.Value{}
		collectFields(reflect.New(reflect.TypeOf(typ)).Elem(), fields)
		for field := range fields {
			if !strings.Contains(string(data), "`"+field+"`") {
				t.Errorf("the reference does not name `%s` of %T", field, typ)
			}
		}
	}
	examples := 0
	for block := range strings.SplitSeq(string(data), "```yaml\n") {
		text, _, ok := strings.Cut(block, "```")
		if !ok || !strings.HasPrefix(text, "title:") && !strings.HasPrefix(text, "- id:") {
			continue
		}
		examples++
		if strings.HasPrefix(text, "- id:") { // a check: put it into an exercise
			var checks []struct {
				ID     string
				Answer any
			}
			if err := yaml.Unmarshal([]byte(text), &checks); err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			answers := ""
			for _, c := range checks {
				if c.Answer != nil {
					answers = "answers: {" + c.ID + ": x}\n"
				}
			}
			text = "title: T\ntask: T\nsolution: 'true'\n" + answers + "wrong: [{name: n, run: 'true', stays: [" + checks[0].ID + "]}]\nchecks:\n" + text
		}
		if _, problems := Parse("track/example", []byte(text)); len(problems) > 0 {
			t.Errorf("%v\n%s", problems, text)
		}
	}
	if examples < 8 {
		t.Errorf("%d examples: is their form as expected?", examples)
	}
}
