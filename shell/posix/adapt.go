package posix

import (
	"bytes"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Names that no script can write: the parser takes no such character for a name or a command.
const (
	internal  = "\x01"
	jobVar    = internal + "job"    // in a background job: its number
	lastVar   = internal + "last"   // $!
	newJob    = internal + "new"    // command: makes a job, prints its number
	jobStatus = internal + "status" // command: records $? of a job
	jobStream = internal + "job:"   // file: its standard input, which also tells when it ends
)

// adapt rewrites what the interpreter has no jobs for. "S &" becomes
//
//	{ last=$(new 'S'); { job=$last; S; status; } <job:$last & }
//
// and $! becomes $last. The redirection gives a job an empty standard input as POSIX wants, and its closing tells of the
// job's end, however it comes.
func adapt(file *syntax.File) {
	var background []*syntax.Stmt
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			if n.Background {
				background = append(background, n)
			}
		case *syntax.ParamExp:
			if n.Param != nil && n.Param.Value == "!" {
				n.Param.Value = lastVar
			}
		}
		return true
	})
	for _, st := range background {
		inner := *st
		inner.Background = false
		text := source(&inner)
		body := &syntax.Block{Stmts: []*syntax.Stmt{
			assign(jobVar, expansion(lastVar)),
			&inner,
			{Cmd: &syntax.CallExpr{Args: []*syntax.Word{word(lit(jobStatus))}}},
		}}
		job := &syntax.Stmt{Cmd: body, Background: true, Redirs: []*syntax.Redirect{{
			Op: syntax.RdrIn, Word: word(&syntax.DblQuoted{Parts: []syntax.WordPart{lit(jobStream), expansion(lastVar)}}),
		}}}
		make := &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: &syntax.CallExpr{
			Args: []*syntax.Word{word(lit(newJob)), word(&syntax.SglQuoted{Value: text})},
		}}}}
		*st = syntax.Stmt{Position: st.Position, Cmd: &syntax.Block{Stmts: []*syntax.Stmt{assign(lastVar, make), job}}}
	}
}

func lit(text string) *syntax.Lit { return &syntax.Lit{Value: text} }

func word(parts ...syntax.WordPart) *syntax.Word { return &syntax.Word{Parts: parts} }

func expansion(name string) *syntax.ParamExp { return &syntax.ParamExp{Short: true, Param: lit(name)} }

func assign(name string, value syntax.WordPart) *syntax.Stmt {
	return &syntax.Stmt{Cmd: &syntax.CallExpr{Assigns: []*syntax.Assign{{Name: lit(name), Value: word(value)}}}}
}

// source prints a statement on one line.
func source(st *syntax.Stmt) string {
	var b bytes.Buffer
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, st); err != nil {
		return "?"
	}
	text := strings.TrimSpace(strings.ReplaceAll(b.String(), "$"+lastVar, "$!"))
	text, _, _ = strings.Cut(text, "\n") // a here-document
	return text
}
