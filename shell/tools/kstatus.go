package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/cli-runtime/pkg/printers"
	kstatuslib "sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

func init() {
	register("kstatus", Tool{"[FILE...]", "tell how far controllers are with objects", kstatus})
}

// kstatus prints a table of objects, as kubectl would: kind/name, the status that sigs.k8s.io/cli-utils computes for it,
// and why. It reads JSON or YAML, one object or many, as `kubectl get -o json` prints them, also while it watches: what
// has been read is told at once.
func kstatus(_ context.Context, c *Call) error {
	names, err := c.flags().parse()
	if err != nil {
		return err
	}
	table := &statusTable{out: printers.GetNewTabWriter(c.Stdout)}
	return c.each(names, func(name string, r io.Reader) error {
		documents := yaml.NewYAMLOrJSONDecoder(io.LimitReader(r, maxText), 4096)
		for {
			var text json.RawMessage
			err := documents.Decode(&text)
			if errors.Is(err, io.EOF) {
				return nil
			}
			var object map[string]any
			if err == nil {
				err = utiljson.Unmarshal(text, &object) // whole numbers become int64
			}
			switch {
			case err != nil:
				return fmt.Errorf("this is no object; give it what `kubectl get … -o json` prints: %w", err)
			case object == nil:
				continue
			}
			err = table.add(&unstructured.Unstructured{Object: object})
			if err := errors.Join(err, table.out.Flush()); err != nil {
				return err
			}
		}
	})
}

// statusTable has a header as soon as it has a row.
type statusTable struct {
	out interface { // a tabwriter that keeps its columns over flushes
		io.Writer
		Flush() error
	}
	begun bool
}

func (t *statusTable) add(object *unstructured.Unstructured) error {
	if object.IsList() {
		return object.EachListItem(func(item runtime.Object) error {
			return t.add(item.(*unstructured.Unstructured))
		})
	}
	if object.GetKind() == "" || object.GetAPIVersion() == "" {
		return errors.New("an object has no kind or no apiVersion; give it what `kubectl get … -o json` prints")
	}
	verdict, err := kstatuslib.Compute(object)
	if err != nil {
		return fmt.Errorf("%s/%s: %w", object.GetKind(), object.GetName(), err)
	}
	if !t.begun {
		t.begun = true
		fmt.Fprintln(t.out, "OBJECT\tSTATUS\tMESSAGE")
	}
	_, err = fmt.Fprintf(t.out, "%s/%s\t%s\t%s\n", object.GetKind(), object.GetName(), verdict.Status, verdict.Message)
	return err
}
