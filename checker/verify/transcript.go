package verify

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/exercises"
)

// marker ends a command's output. It begins with a control character that no command prints.
const marker = "\x1eapilab "

func proveLesson(ctx context.Context, env Env, lesson Lesson, u *unit) (err error) {
	lab, err := env.Lab(ctx, lesson.Cluster)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := lab.Close(ctx); err == nil {
			err = closeErr
		}
	}()
	// The setup and the controllers of the lesson are those of an exercise that asks for nothing.
	session := checker.NewSession(checker.Options{Learner: "verify", Config: lab.Config, Run: lab.Run, Logger: slog.New(slog.DiscardHandler)})
	defer session.Close()
	err = session.Open(ctx, &exercises.Exercise{ID: lesson.ID, Setup: lesson.Setup, Controllers: lesson.Controllers}, checker.Saved{})
	if err != nil {
		return fmt.Errorf("%s: %w", lesson.File, err)
	}
	for _, transcript := range lesson.Transcripts {
		// One script, so that variables, folders and jobs last from step to step.
		output, leave, err := lab.learn(ctx, script(transcript))
		leave()
		if err != nil {
			return fmt.Errorf("%s:%d: %w", lesson.File, transcript.Line, err)
		}
		for i, printed := range split(output, len(transcript.Steps)) {
			step := transcript.Steps[i]
			if printed == nil {
				u.fail("%s:%d: $ %s\n  did not come to its end\n%s", lesson.File, step.Line, firstLine(step.Command), indent(lastLines(markers.ReplaceAllString(output, ""), 8), "    "))
				break
			}
			if mismatch := compare(step.Want, *printed); mismatch != "" {
				u.fail("%s:%d: $ %s\n%s", lesson.File, step.Line, firstLine(step.Command), indent(mismatch, "  "))
			}
		}
	}
	return nil
}

var markers = regexp.MustCompile("\n" + marker + "\\d+\n")

func script(t Transcript) string {
	var b strings.Builder
	for i, step := range t.Steps {
		fmt.Fprintf(&b, "%s\nprintf '\\n\\036apilab %%s\\n' %d\n", step.Command, i)
	}
	return b.String()
}

// split returns what each of n steps printed; nil for those that did not come to their end.
func split(output string, n int) []*string {
	printed := make([]*string, n)
	for i := range n {
		before, after, ok := strings.Cut(output, fmt.Sprintf("\n%s%d\n", marker, i))
		if !ok {
			break
		}
		printed[i], output = &before, after
	}
	return printed
}

func firstLine(s string) string {
	first, rest, _ := strings.Cut(s, "\n")
	if rest != "" {
		return first + " …"
	}
	return first
}

// compare returns how an output differs from what is wanted, "" if it does not. Spaces at the ends of lines and empty
// lines around the whole do not count, and how many spaces there are between words does not either: columns are as wide as
// their longest value.
func compare(want, got string) string {
	wanted, printed := lines(want), lines(got)
	ok, furthest := matchLines(wanted, printed)
	if ok {
		return ""
	}
	if furthest < len(printed) && furthest < len(wanted) {
		return fmt.Sprintf("line %d is\n  %s\nwanted, in all\n%s", furthest+1, printed[furthest], indent(strings.Join(wanted, "\n"), "  "))
	}
	shown := "nothing"
	if len(printed) > 0 {
		shown = strings.Join(printed, "\n")
	}
	expected := "nothing"
	if len(wanted) > 0 {
		expected = strings.Join(wanted, "\n")
	}
	return fmt.Sprintf("printed\n%swanted\n%s", indent(shown, "  "), indent(expected, "  "))
}

func lines(s string) []string {
	s = strings.Trim(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	if strings.TrimSpace(s) == "" {
		return nil
	}
	all := strings.Split(s, "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " \t\r")
	}
	return all
}

// matchLines matches all lines; furthest is up to which line printed they do.
func matchLines(wanted, printed []string) (ok bool, furthest int) {
	reached := make([]bool, len(printed)+1) // by the lines of wanted so far: ends in printed that they match up to
	reached[0] = true
	for _, want := range wanted {
		next := make([]bool, len(printed)+1)
		anyLines := strings.TrimSpace(want) == "…"
		pattern := linePattern(want)
		for j := range reached {
			switch {
			case anyLines:
				next[j] = reached[j] || j > 0 && next[j-1]
			case j < len(printed) && reached[j]:
				next[j+1] = pattern.MatchString(printed[j])
			}
		}
		reached = next
		for j := range reached {
			if reached[j] {
				furthest = max(furthest, j)
			}
		}
	}
	return reached[len(printed)], furthest
}

var wildcard = regexp.MustCompile(`…|<[^<>\s][^<>]*>|\s+`)

// linePattern is a wanted line as a regular expression.
func linePattern(line string) *regexp.Regexp {
	var b strings.Builder
	last := 0
	for _, at := range wildcard.FindAllStringIndex(line, -1) {
		b.WriteString(regexp.QuoteMeta(line[last:at[0]]))
		switch token := line[at[0]:at[1]]; {
		case token == "…":
			b.WriteString(".*")
		case token[0] == '<':
			b.WriteString(".+")
		default:
			b.WriteString(`\s+`)
		}
		last = at[1]
	}
	b.WriteString(regexp.QuoteMeta(line[last:]))
	return regexp.MustCompile("^" + b.String() + "$")
}
