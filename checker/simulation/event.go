package simulation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/exercises/expr"
)

var events = schema.GroupVersionResource{Version: "v1", Resource: "events"}

// An event that was recorded; the same one again counts on, as client-go's recorder does it.
type event struct {
	name  string
	count int64
}

// A telling is the stage that an object is in, and what was told of that.
type telling struct {
	stage int // counted from 1
	text  string
}

// entered notes the stage that fits. An object that is at rest when it is first seen in it has told its event: the
// controller was started anew.
func (p *primary) entered(i int, stage *exercises.Stage, vars expr.Vars, atRest bool) {
	if p.told.stage == i+1 {
		return
	}
	p.told = telling{stage: i + 1}
	if stage.Event == nil || !atRest {
		return
	}
	if reason, message, err := renderEvent(stage.Event, vars); err == nil {
		p.told.text = reason + "\n" + message
	}
}

func renderEvent(act *exercises.EventAct, vars expr.Vars) (reason, message string, err error) {
	reasonTemplate, messageTemplate := act.Templates()
	if reason, err = text(reasonTemplate, vars); err != nil {
		return "", "", mistake("event.reason: %v", err)
	}
	if message, err = text(messageTemplate, vars); err != nil {
		return "", "", mistake("event.message: %v", err)
	}
	return reason, message, nil
}

// record records an event on a primary object: once for each time that the object comes into the stage, and when what it
// says differs.
func (r *runner) record(ctx context.Context, p *primary, object *unstructured.Unstructured, act *exercises.EventAct, vars expr.Vars) error {
	reason, message, err := renderEvent(act, vars)
	if err != nil {
		return err
	}
	key := reason + "\n" + message
	if p.told.text == key {
		return nil
	}
	namespace := cmp.Or(object.GetNamespace(), metav1.NamespaceDefault)
	on := r.client.Dynamic.Resource(events).Namespace(namespace)
	now := metav1.Now()
	if again := p.events[key]; again != nil {
		data, err := json.Marshal(map[string]any{"count": again.count + 1, "lastTimestamp": now})
		if err != nil {
			return fmt.Errorf("encode an event: %w", err)
		}
		_, err = on.Patch(ctx, again.name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: r.Name})
		if err == nil {
			again.count++
			p.told.text = key
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	made, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&corev1.Event{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s.%x", object.GetName(), time.Now().UnixNano()), Namespace: namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(),
			Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
		},
		Type: cmp.Or(act.Type, corev1.EventTypeNormal), Reason: reason, Message: message,
		Source: corev1.EventSource{Component: r.Name}, ReportingController: r.Name,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	})
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	created, err := on.Create(ctx, &unstructured.Unstructured{Object: made}, metav1.CreateOptions{FieldManager: r.Name})
	if err != nil {
		return fmt.Errorf("record an event: %w", err)
	}
	p.events[key] = &event{created.GetName(), 1}
	p.told.text = key
	return nil
}

func text(t *expr.Template, vars expr.Vars) (string, error) {
	value, err := t.Render(vars)
	if err != nil {
		return "", err
	}
	if s, ok := value.(string); ok {
		return s, nil
	}
	return fmt.Sprint(value), nil
}
