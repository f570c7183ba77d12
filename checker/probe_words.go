package checker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/apilab/apilab/exercises"
)

// maxSent bounds what is told of an object or a patch that a step sends, in characters.
const maxSent = 120

// nameStep says which step of a probe it is, and what it sends: "step 2 of 3, create Widget large in shop with
// {"spec":{"size":11}}".
func nameStep(probe *exercises.Probe, i int) string {
	step := describe(&probe.Steps[i])
	if n := len(probe.Steps); n > 1 {
		return fmt.Sprintf("step %d of %d, %s", i+1, n, step)
	}
	return "the step " + step
}

// describe says what a step does.
func describe(step *exercises.Step) string {
	var what string
	switch {
	case step.Create != nil:
		what = describeManifest(step.Create)
	case step.Apply != nil:
		what = describeManifest(step.Apply)
	case step.Patch != nil:
		what = describeRef(step.Patch.ObjectRef)
		if step.Patch.Subresource != "" {
			what = "the " + step.Patch.Subresource + " of " + what
		}
		what += " with " + compact(step.Patch.Body)
	case step.Delete != nil:
		what = describeRef(*step.Delete)
	case step.Observe != nil:
		what = "for " + step.Observe.For.String()
	case step.Wait != nil:
		what = "for " + describeRef(step.Wait.ObjectRef)
	}
	if step.DryRun {
		what += " (dry run)"
	}
	return step.Verb() + " " + what
}

func describeRef(ref exercises.ObjectRef) string {
	text := ref.Resource + " " + ref.Name
	if ref.Namespace != "" {
		text += " in " + ref.Namespace
	}
	return text
}

func describeManifest(m map[string]any) string {
	u := unstructured.Unstructured{Object: runtime.DeepCopyJSON(m)}
	name := u.GetName()
	if name == "" {
		name = u.GetGenerateName() + "…"
	}
	text := u.GetKind() + " " + name
	if u.GetNamespace() != "" {
		text += " in " + u.GetNamespace()
	}
	for _, said := range [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "generateName"}, {"metadata", "namespace"}} {
		unstructured.RemoveNestedField(u.Object, said...)
	}
	if metadata, ok := u.Object["metadata"].(map[string]any); ok && len(metadata) == 0 {
		delete(u.Object, "metadata")
	}
	if len(u.Object) > 0 {
		text += " with " + compact(u.Object)
	}
	return text
}

// compact is a value as JSON in one line, cut off where it gets long.
func compact(value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	text := []rune(strings.TrimSpace(b.String()))
	if len(text) > maxSent {
		return string(text[:maxSent]) + "…"
	}
	return string(text)
}

// answerWords are the status of an answer: "409 Conflict", "201 Created".
func answerWords(code int64, reason string) string {
	if reason == "" {
		reason = http.StatusText(int(code))
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, reason))
}

var resultOf = regexp.MustCompile(`result\[(\d+)\](\.?)`)

// nameResults says of an explanation which steps it speaks of, what they sent and what came back, in place of result[0].
func nameResults(text string, probe *exercises.Probe, results []any) string {
	steps := map[int]bool{}
	for _, found := range resultOf.FindAllStringSubmatch(text, -1) {
		if i, err := strconv.Atoi(found[1]); err == nil && i < len(results) {
			steps[i] = true
		}
	}
	if len(steps) == 0 {
		return text
	}
	var told []string
	for _, i := range slices.Sorted(maps.Keys(steps)) {
		said := nameStep(probe, i)
		result, _ := results[i].(map[string]any)
		code, _ := result["code"].(int64)
		reason, _ := result["reason"].(string)
		if step := &probe.Steps[i]; step.Wait == nil && step.Observe == nil {
			said += ", was answered " + answerWords(code, reason)
		}
		told = append(told, said)
	}
	text = resultOf.ReplaceAllStringFunc(text, func(found string) string {
		parts := resultOf.FindStringSubmatch(found)
		i, _ := strconv.Atoi(parts[1])
		switch {
		case !steps[i]:
			return found
		case len(steps) == 1 && parts[2] != "":
			return ""
		case parts[2] != "":
			return fmt.Sprintf("step %d's ", i+1)
		}
		return fmt.Sprintf("what came of step %d", i+1)
	})
	return strings.Join(told, "; ") + ": " + text
}
