package content

import (
	"errors"
	"strings"
)

const (
	prompt       = "$ "
	continuation = "> "
)

// parseTranscript reads the text of a console block, whose first line has the number first: "$ " begins a command,
// "> " right below continues it, every other line is output.
func parseTranscript(text string, first int) ([]Step, error) {
	var steps []Step
	var output []string
	typing := false
	flush := func() {
		if len(steps) > 0 {
			steps[len(steps)-1].Want = strings.TrimRight(strings.Join(output, "\n"), "\n")
		}
		output = nil
	}
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		command, isCommand := strings.CutPrefix(line, prompt)
		more, continues := strings.CutPrefix(line, continuation)
		if line == strings.TrimSpace(continuation) { // an empty line of a here-document
			more, continues = "", true
		}
		switch {
		case isCommand && strings.TrimSpace(command) == "":
			return nil, errors.New("a prompt of the transcript has no command")
		case isCommand:
			flush()
			steps = append(steps, Step{Line: first + i, Command: command})
			typing = true
		case len(steps) == 0:
			return nil, errors.New(`a transcript begins with a command: "$ kubectl …"`)
		case continues && typing:
			steps[len(steps)-1].Command += "\n" + more
		default:
			output = append(output, line)
			typing = false
		}
	}
	flush()
	return steps, nil
}
