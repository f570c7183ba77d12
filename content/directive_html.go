package content

import (
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// The HTML that directives and code blocks become is the contract in ../assets/README.md. Roles are explicit because an
// aside or a labelled section would be a landmark, and a page with a dozen landmarks has none.

func renderDirective(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	d := node.(*directive)
	title, known := directiveTitles[d.name]
	switch {
	case !known: // a problem of the lesson; its blocks are shown as they are
	case d.name == "exercise":
		if entering && d.arg != "" {
			w.(*parts).hole(part{exercise: d.arg})
		}
	case d.name == "predict" && entering:
		w.WriteString(`<apilab-predict><section class="predict" role="group" aria-label="Prediction">` + "\n" +
			`<p class="callout-title">` + title + "</p>\n")
	case d.name == "predict":
		w.WriteString("</section></apilab-predict>\n")
	case entering && d.arg == "":
		w.WriteString(`<aside class="` + d.name + `" role="note" aria-label="` + title + `">` + "\n" +
			`<p class="callout-title">` + title + "</p>\n")
	case entering:
		w.WriteString(`<aside class="` + d.name + `" role="note" aria-label="` + title + `">` + "\n" +
			`<p class="callout-title"><span class="callout-kind">` + title + ":</span> " + string(RenderInline(d.arg)) + "</p>\n")
	default:
		w.WriteString("</aside>\n")
	}
	return ast.WalkContinue, nil
}

// A half is the question or the hidden answer of a prediction, or the options of its question.
type half struct {
	ast.BaseBlock
	is string // question, answer, options
}

var kindHalf = ast.NewNodeKind("Half")

// Kind implements ast.Node.
func (h *half) Kind() ast.NodeKind { return kindHalf }

// Dump implements ast.Node.
func (h *half) Dump(source []byte, level int) {
	ast.DumpHelper(h, source, level, map[string]string{"Is": h.is}, nil)
}

// fold parts a prediction at its first thematic break into question and answer, and takes a task list at the end of the
// question as options. Without a break it is left as it is.
func fold(d *directive) {
	line := d.FirstChild()
	for line != nil && line.Kind() != ast.KindThematicBreak {
		line = line.NextSibling()
	}
	if line == nil {
		return
	}
	question, answer := &half{is: "question"}, &half{is: "answer"}
	for d.FirstChild() != line {
		question.AppendChild(question, d.FirstChild()) // takes it out of d
	}
	d.RemoveChild(d, line)
	for d.FirstChild() != nil {
		answer.AppendChild(answer, d.FirstChild())
	}
	d.AppendChild(d, question)
	if list, ok := question.LastChild().(*ast.List); ok && isTaskList(list) {
		options := &half{is: "options"}
		for list.FirstChild() != nil {
			options.AppendChild(options, list.FirstChild())
		}
		question.RemoveChild(question, list)
		d.AppendChild(d, options)
	}
	d.AppendChild(d, answer)
}

func isTaskList(list *ast.List) bool {
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		if checkbox(item) == nil {
			return false
		}
	}
	return true
}

// checkbox returns the checkbox that a list item begins with, or nil.
func checkbox(item ast.Node) *east.TaskCheckBox {
	if text := item.FirstChild(); text != nil {
		box, _ := text.FirstChild().(*east.TaskCheckBox)
		return box
	}
	return nil
}

func renderHalf(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	tags := map[string][2]string{
		"question": {`<div class="question">`, "</div>"},
		"options":  {`<ul class="options">`, "</ul>"},
		"answer":   {`<details class="answer"><summary>Show what happens</summary><div>`, "</div></details>"},
	}[node.(*half).is]
	if entering {
		w.WriteString(tags[0] + "\n")
	} else {
		w.WriteString(tags[1] + "\n")
	}
	return ast.WalkContinue, nil
}

func renderListItem(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	box := checkbox(node)
	switch {
	case !entering:
		w.WriteString("</li>\n")
	case isOption(node) && box.IsChecked:
		w.WriteString("<li data-right>")
	default:
		w.WriteString("<li>")
		if first := node.FirstChild(); first != nil && first.Kind() != ast.KindTextBlock {
			w.WriteString("\n")
		}
	}
	return ast.WalkContinue, nil
}

// An option has no box of its own: it is picked, and the page says whether it is right.
func renderCheckbox(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	switch {
	case !entering || isOption(node.Parent().Parent()):
	case node.(*east.TaskCheckBox).IsChecked:
		w.WriteString(`<input type="checkbox" checked disabled> `)
	default:
		w.WriteString(`<input type="checkbox" disabled> `)
	}
	return ast.WalkContinue, nil
}

func isOption(item ast.Node) bool {
	h, ok := item.Parent().(*half)
	return ok && h.is == "options"
}
