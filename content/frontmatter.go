package content

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// trackMeta is track.yaml.
type trackMeta struct {
	Title   string   `yaml:"title"`
	Summary string   `yaml:"summary"`
	Outcome string   `yaml:"outcome"`
	Order   int      `yaml:"order"`
	Needs   []string `yaml:"needs"`
}

func (m *trackMeta) missing() []string {
	var fields []string
	for name, empty := range map[string]bool{
		"title": m.Title == "", "summary": m.Summary == "", "outcome": m.Outcome == "", "order": m.Order < 1,
	} {
		if empty {
			fields = append(fields, name)
		}
	}
	return fields
}

func (m *trackMeta) wrong() []string { return nil }

// lessonMeta is the front matter of a lesson.
type lessonMeta struct {
	Title      string     `yaml:"title"`
	Summary    string     `yaml:"summary"`
	Duration   int        `yaml:"duration"`
	Difficulty Difficulty `yaml:"difficulty"`
	Needs      []string   `yaml:"needs"`
	Objectives []string   `yaml:"objectives"`
	Setup      string     `yaml:"setup"`
	Cluster    struct {
		Backend string `yaml:"backend"`
	} `yaml:"cluster"`
}

func (m *lessonMeta) missing() []string {
	var fields []string
	for name, empty := range map[string]bool{
		"title": m.Title == "", "summary": m.Summary == "", "duration": m.Duration == 0,
		"difficulty": m.Difficulty == "", "objectives": len(m.Objectives) == 0,
	} {
		if empty {
			fields = append(fields, name)
		}
	}
	return fields
}

func (m *lessonMeta) wrong() []string {
	var messages []string
	if m.Duration < 0 || m.Duration > 120 {
		messages = append(messages, "duration is in minutes, 1 to 120")
	}
	switch m.Difficulty {
	case "", Introductory, Intermediate, Advanced:
	default:
		messages = append(messages, "difficulty is introductory, intermediate or advanced, not "+strconv.Quote(string(m.Difficulty)))
	}
	switch m.Cluster.Backend {
	case "", "any", "embedded", "kind":
	default:
		messages = append(messages, "cluster.backend is any, embedded or kind, not "+strconv.Quote(m.Cluster.Backend))
	}
	return messages
}

// meta is metadata that knows what it lacks.
type meta interface {
	missing() []string
	wrong() []string
}

// decode reads YAML strictly into m. Lines of problems are counted from after. It returns false when src is not usable
// at all; missing and wrong fields are told but do not take the page from those who edit it.
func (l *loader) decode(file string, after int, src []byte, m meta) bool {
	d := yaml.NewDecoder(bytes.NewReader(src))
	d.KnownFields(true)
	if err := d.Decode(m); err != nil && !errors.Is(err, io.EOF) {
		for _, p := range yamlProblems(err) {
			l.problem(file, p.line+after, "%s", p.message)
		}
		return false
	}
	missing := m.missing()
	slices.Sort(missing)
	for _, field := range missing {
		l.problem(file, 1, "%s is missing", field)
	}
	for _, message := range m.wrong() {
		l.problem(file, 1, "%s", message)
	}
	return true
}

var errNoFrontMatter = errors.New("the file must begin with front matter")

// splitFrontMatter parts a file into its YAML front matter and its body, whose first line has the number line.
func splitFrontMatter(src []byte) (front, body []byte, line int, err error) {
	const fence = "---"
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	lines := bytes.SplitAfter(src, []byte("\n"))
	if string(bytes.TrimRight(lines[0], " \t\n")) != fence {
		return nil, nil, 0, errNoFrontMatter
	}
	at := len(lines[0])
	for i, l := range lines[1:] {
		if string(bytes.TrimRight(l, " \t\n")) == fence {
			return src[len(lines[0]):at], src[at+len(l):], i + 3, nil
		}
		at += len(l)
	}
	return nil, nil, 0, errors.New("the front matter has no end: a line --- is missing")
}

var (
	yamlLine    = regexp.MustCompile(`line (\d+): (.*)`)
	yamlUnknown = regexp.MustCompile(`field (\S+) not found in type \S+`)
	yamlTwice   = regexp.MustCompile(`mapping key (\S+) already defined at line \d+`)
)

// yamlProblems takes apart what the YAML package says, and says it without Go's types.
func yamlProblems(err error) []located {
	messages := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	var typed *yaml.TypeError
	if errors.As(err, &typed) {
		messages = typed.Errors
	}
	var problems []located
	for _, m := range messages {
		p := located{message: m}
		if g := yamlLine.FindStringSubmatch(m); g != nil {
			p.line, _ = strconv.Atoi(g[1])
			p.message = g[2]
		}
		p.message = yamlUnknown.ReplaceAllString(p.message, "unknown field $1")
		p.message = yamlTwice.ReplaceAllString(p.message, "$1 is given twice")
		p.message = strings.NewReplacer("!!str ", "", "!!map", "a map", "!!seq", "a list", "into int", "where a number is wanted",
			"into string", "where text is wanted", "into []string", "where a list is wanted").Replace(p.message)
		problems = append(problems, p)
	}
	return problems
}
