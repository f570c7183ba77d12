package exercises

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/apilab/apilab/exercises/expr"
)

// MaxDelay bounds a stage's delay.
const MaxDelay = 60 * time.Second

// controllerName is what field managers and user agents may be called; upstream's names fit.
var controllerName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9./_-]{0,126}[A-Za-z0-9])?$`)

func (v *validator) controllers(path string, controllers []Controller) {
	var names []string
	for i := range controllers {
		c := &controllers[i]
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case c.Name == "":
			v.say(at+".name", "%s.name is missing", at)
		case !controllerName.MatchString(c.Name):
			v.say(at+".name", "%s.name is %q; must be of letters, digits and ./_-, as a field manager's", at, c.Name)
		case slices.Contains(names, c.Name+" "+c.For):
			v.say(at+".name", "two controllers %q are for %s: make them one", c.Name, c.For)
		}
		names = append(names, c.Name+" "+c.For)
		v.controller(at, c)
	}
}

func (v *validator) controller(at string, c *Controller) {
	v.required(at+".says", c.Says)
	if strings.Contains(strings.TrimSpace(c.Says), "\n") {
		v.say(at+".says", "%s.says must be one line", at)
	}
	before := len(v.problems)
	v.resource(at+".for", c.For)
	v.namespace(at+".namespace", c.Namespace)
	if _, err := labels.Parse(c.Selector); err != nil {
		v.say(at+".selector", "%s.selector: %v", at, err)
	}
	for name, resource := range c.Owns {
		v.variable(join(at+".owns", name), name)
		v.resource(join(at+".owns", name), resource)
		if _, twice := c.With[name]; twice {
			v.say(join(at+".with", name), "%s.with.%s: owns has a variable of that name", at, name)
		}
	}
	v.with(at+".with", c.With)
	if len(c.Stages) == 0 {
		v.say(at, "%s has no stages", at)
	}
	if len(v.problems) > before {
		return // what is said of expressions whose variables are wrong helps nobody
	}
	for i := range c.Stages {
		v.stage(fmt.Sprintf("%s.stages[%d]", at, i), c, &c.Stages[i])
	}
	v.reachable(at, c)
}

// reachable finds stages behind one that always fits.
func (v *validator) reachable(at string, c *Controller) {
	last := map[bool]string{} // by Deleting: the stage that always fits
	for i, s := range c.Stages {
		if before, ok := last[s.Deleting]; ok {
			v.say(fmt.Sprintf("%s.stages[%d]", at, i), "%s.stages[%d] is never reached: the stage %q before it has no when", at, i, before)
			return
		}
		if s.When == "" {
			last[s.Deleting] = s.Name
		}
	}
}

func (v *validator) stage(at string, c *Controller, s *Stage) {
	with := c.Variables()
	v.required(at+".name", s.Name)
	if s.Delay < 0 || s.Delay > MaxDelay {
		v.say(at+".delay", "%s.delay is %s; at most %s", at, s.Delay, MaxDelay)
	}
	if s.When != "" {
		s.when = v.noEach(at+".when", v.compile(at+".when", s.When, expr.Control, with))
	}
	if f := s.Finalizers; f != nil {
		v.finalizers(at+".finalizers", s, f)
	}
	for i := range s.Apply {
		v.apply(fmt.Sprintf("%s.apply[%d]", at, i), with, &s.Apply[i])
	}
	for i := range s.Delete {
		d := &s.Delete[i]
		del := fmt.Sprintf("%s.delete[%d]", at, i)
		v.known(del+".from", del+".from names a variable", d.From, with)
		if d.When != "" {
			d.when = v.compile(del+".when", d.When, expr.Control, with)
		}
	}
	if s.Patch != nil {
		s.patch = v.template(at+".patch", s.Patch, with, false)
		for _, field := range []string{"status", "apiVersion", "kind"} {
			if _, ok := s.Patch[field]; ok {
				v.say(join(at+".patch", field), "%s.patch does not write %s", at, field)
			}
		}
	}
	if s.Status != nil {
		s.status = v.template(at+".status", s.Status, with, false)
	}
	if e := s.Event; e != nil {
		v.oneOf(at+".event.type", e.Type, "", "Normal", "Warning")
		v.required(at+".event.reason", e.Reason)
		v.required(at+".event.message", e.Message)
		e.reason = v.template(at+".event.reason", e.Reason, with, false)
		e.message = v.template(at+".event.message", e.Message, with, false)
		if s.Finalizers == nil && s.Apply == nil && s.Delete == nil && s.Patch == nil && s.Status == nil {
			v.say(at+".event", "%s has nothing but an event: it never differs from what is there, so give it a status as well", at)
		}
	}
}

func (v *validator) finalizers(at string, s *Stage, f *FinalizersAct) {
	if len(f.Add) > 0 && s.Deleting {
		v.say(at+".add", "%s.add: the API server takes no new finalizer on an object that is being deleted", at)
	}
	for i, name := range slices.Concat(f.Add, f.Remove) {
		if len(validation.IsQualifiedName(name)) > 0 { // not all of upstream's have a domain
			v.say(at, "%s: %q is no name of a finalizer, as example.com/hold is", at, name)
		}
		if i < len(f.Add) && slices.Contains(f.Remove, name) {
			v.say(at, "%s: %q is added and removed", at, name)
		}
	}
}

func (v *validator) apply(at string, with []string, a *ApplyAct) {
	if a.Each != "" {
		a.each = v.noEach(at+".each", v.compileValue(at+".each", a.Each, with))
	}
	if a.When != "" {
		a.when = v.compile(at+".when", a.When, expr.Control, with)
		if a.Each == "" {
			v.noEach(at+".when", a.when)
		}
	}
	layers, isList := a.Manifest.([]any)
	if !isList {
		layers = []any{a.Manifest}
	}
	if a.Manifest == nil || len(layers) == 0 {
		v.say(at, "%s has no manifest", at)
		return
	}
	whole := map[string]any{} // of the layers that are written out
	computed := false
	for i, layer := range layers {
		path := at + ".manifest"
		if isList {
			path = fmt.Sprintf("%s[%d]", path, i)
		}
		switch layer := layer.(type) {
		case map[string]any:
			whole = layOver(whole, layer)
		case string:
			computed = true
		default:
			v.say(path, "%s must be an object, or a text of one ${…} that gives one", path)
			computed = true
			continue
		}
		if t := v.template(path, layer, with, a.Each != ""); t != nil {
			a.manifests = append(a.manifests, t)
		}
	}
	if !computed {
		v.manifest(at+".manifest", whole, false)
	}
}

// layOver returns base with layer over it.
func layOver(base, layer map[string]any) map[string]any {
	merged := maps.Clone(base)
	for key, value := range layer {
		below, _ := merged[key].(map[string]any)
		if inner, ok := value.(map[string]any); ok && below != nil {
			value = layOver(below, inner)
		}
		merged[key] = value
	}
	return merged
}

// template compiles the expressions in a value; mayUseEach says whether there is a variable each.
func (v *validator) template(path string, value any, with []string, mayUseEach bool) *expr.Template {
	t, errs := expr.NewTemplate(value, expr.Control, with...)
	for _, e := range errs {
		v.say(path+e.Path, "%s%s: %v", path, e.Path, celProblem(e.Err))
	}
	if t != nil && t.Uses("each") && !mayUseEach {
		v.say(path, "%s: there is no each here: it is of delete, and of apply with each", path)
	}
	return t
}

func celProblem(err error) string {
	if _, ok := err.(*expr.CompileError); ok {
		return "CEL: " + err.Error()
	}
	return err.Error()
}

func (v *validator) compileValue(path, source string, with []string) *expr.Expression {
	x, err := expr.CompileValue(source, expr.Control, with...)
	if err != nil {
		v.say(path, "%s: %s", path, celProblem(err))
		return nil
	}
	return x
}

func (v *validator) noEach(path string, x *expr.Expression) *expr.Expression {
	if x != nil && x.Uses("each") {
		v.say(path, "%s: there is no each here: it is of delete, and of apply with each", path)
	}
	return x
}
