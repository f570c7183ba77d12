package tools

import (
	"bytes"
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/mikefarah/yq/v4/pkg/yqlib"
)

func init() {
	register("yq", Tool{"[-iPrneC] [-o FORMAT] [-p FORMAT] EXPRESSION [FILE...]", "query and change YAML", yq})
}

// yqLock guards what yqlib keeps in globals: its settings, and the process's environment, which its env() reads.
var yqLock sync.Mutex

func yq(ctx context.Context, c *Call) error {
	args := c.Args
	all := false
	if len(args) > 0 {
		switch args[0] {
		case "eval", "e":
			args = args[1:]
		case "eval-all", "ea":
			args, all = args[1:], true
		}
	}
	f := c.flags()
	inPlace := f.yes("inplace", "i", "change the file")
	pretty := f.yes("prettyPrint", "P", "block style")
	f.yes("no-doc", "N", "no --- between documents")
	null := f.yes("null-input", "n", "no input")
	exit := f.yes("exit-status", "e", "fail if there is no match")
	raw := f.BoolP("unwrapScalar", "r", true, "strings without quotes")
	out := f.StringP("output-format", "o", "auto", "yaml, json, props, csv, tsv, xml, toml")
	in := f.StringP("input-format", "p", "auto", "yaml, json, props, csv, tsv, xml, toml")
	toJSON := f.yes("tojson", "j", "like -o json")
	indent := f.IntP("indent", "I", 2, "spaces")
	color, mono := f.yes("colors", "C", "in colour"), f.yes("no-colors", "M", "without colour")
	expr := f.String("expression", "", "the expression")
	names, err := f.parseArgs(args)
	if err != nil {
		return err
	}
	if *expr == "" {
		switch {
		case len(names) == 0:
			*expr = "."
		default:
			// A sole operand may be a file: yq prints it.
			if _, err := c.Host.FS.Stat(c.path(names[0])); err == nil && len(names) == 1 {
				*expr = "."
			} else {
				*expr, names = names[0], names[1:]
			}
		}
	}
	if *pretty {
		*expr = "(" + *expr + ") | " + yqlib.PrettyPrintExp
	}
	yqLock.Lock()
	defer yqLock.Unlock()
	defer borrowEnv(c.Env)()
	yqlib.ConfiguredSecurityPreferences.DisableFileOps = true
	yqlib.GetLogger().SetLevel(slog.LevelError + 4)
	yqlib.InitExpressionParser()
	node, err := yqlib.ExpressionParser.ParseExpression(*expr)
	if err != nil {
		return fmt.Errorf("error in the expression: %w", err)
	}
	if *in == "auto" {
		*in = "yaml"
		if len(names) > 0 {
			if format := yqlib.FormatStringFromFilename(names[0]); format == "json" || format == "toml" || format == "xml" || format == "props" || format == "csv" || format == "tsv" {
				*in = format
			}
		}
	}
	if *toJSON {
		*out = "json"
	}
	if *out == "auto" {
		*out = "yaml"
		if *in == "json" || *inPlace {
			*out = *in
		}
	}
	from, err := yqlib.FormatFromString(*in)
	if err != nil || from.DecoderFactory == nil {
		return usagef("unknown input format %q", *in)
	}
	yaml := yqlib.ConfiguredYamlPreferences
	yaml.Indent, yaml.UnwrapScalar, yaml.ColorsEnabled = *indent, *raw, *color || terminal(c.Stdout) && !*mono && !*inPlace
	json := yqlib.ConfiguredJSONPreferences
	json.Indent, json.UnwrapScalar, json.ColorsEnabled = *indent, *raw && f.Changed("unwrapScalar"), yaml.ColorsEnabled
	var enc yqlib.Encoder
	switch *out {
	case "yaml", "y", "yml":
		enc = yqlib.NewYamlEncoder(yaml)
	case "json", "j":
		enc = yqlib.NewJSONEncoder(json)
	default:
		to, err := yqlib.FormatFromString(*out)
		if err != nil || to.EncoderFactory == nil {
			return usagef("unknown output format %q", *out)
		}
		enc = to.EncoderFactory()
	}
	var text bytes.Buffer
	printer := yqlib.NewPrinter(enc, yqlib.NewSinglePrinterWriter(&text))
	q := &yqRun{c, node, printer, from}
	switch {
	case *null:
		err = yqlib.NewStreamEvaluator().EvaluateNew(*expr, printer)
	case all:
		err = q.together(names, *expr)
	default:
		err = q.stream(names)
	}
	if err != nil {
		return yqError(err)
	}
	if *inPlace {
		if len(names) == 0 {
			return usagef("-i needs a file")
		}
		return typed(names[0], c.Host.FS.WriteFile(c.path(names[0]), text.Bytes(), 0o644))
	}
	if _, err := c.Stdout.Write(text.Bytes()); err != nil {
		return err
	}
	if *exit && !printer.PrintedAnything() {
		return errors.New("no matches found")
	}
	return nil
}

func yqError(err error) error {
	if strings.Contains(err.Error(), "file operations have been disabled") {
		return errors.New("load() is not available here: pass the files as operands, with eval-all and select(fileIndex == 1)")
	}
	return err
}

type yqRun struct {
	c       *Call
	node    *yqlib.ExpressionNode
	printer yqlib.Printer
	from    *yqlib.Format
}

func (q *yqRun) stream(names []string) error {
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		r, err := q.c.open(name)
		if err != nil {
			return err
		}
		_, err = yqlib.NewStreamEvaluator().Evaluate(name, io.LimitReader(r, maxText), q.node, q.printer, q.from.DecoderFactory())
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// together evaluates the expression once over all documents of all files.
func (q *yqRun) together(names []string, expr string) error {
	if len(names) == 0 {
		names = []string{"-"}
	}
	docs := list.New()
	for i, name := range names {
		r, err := q.c.open(name)
		if err != nil {
			return err
		}
		dec := q.from.DecoderFactory()
		if err := dec.Init(io.LimitReader(r, maxText)); err != nil {
			r.Close()
			return err
		}
		for n := uint(0); ; n++ {
			doc, err := dec.Decode()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				r.Close()
				return err
			}
			doc.SetFilename(name)
			doc.SetFileIndex(i)
			doc.SetDocument(n)
			docs.PushBack(doc)
		}
		r.Close()
	}
	found, err := yqlib.NewAllAtOnceEvaluator().EvaluateCandidateNodes(expr, docs)
	if err != nil {
		return err
	}
	return q.printer.PrintResults(found)
}

// borrowEnv puts the learner's variables into the process's environment until the returned function is called.
func borrowEnv(env []string) func() {
	old := map[string]*string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if _, ok := old[name]; !ok {
			old[name] = nil
			if v, ok := os.LookupEnv(name); ok {
				old[name] = &v
			}
		}
		os.Setenv(name, value)
	}
	return func() {
		for name, v := range old {
			if v == nil {
				os.Unsetenv(name)
			} else {
				os.Setenv(name, *v)
			}
		}
	}
}
