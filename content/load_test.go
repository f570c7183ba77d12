package content

import (
	"html/template"
	"io"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const goodTrack = "title: T\nsummary: S\noutcome: O\norder: 1\n"

const front = "---\ntitle: L\nsummary: S\nduration: 10\ndifficulty: introductory\nobjectives: [read]\n---\n" // 7 lines

// lessonFS is a curriculum of one track with these bodies, as lessons 01-a, 02-b …
func lessonFS(bodies ...string) fstest.MapFS {
	fsys := fstest.MapFS{"t/track.yaml": {Data: []byte(goodTrack)}}
	for i, body := range bodies {
		slug := string(rune('a' + i))
		fsys["t/0"+string(rune('1'+i))+"-"+slug+"/index.md"] = &fstest.MapFile{Data: []byte(front + body)}
	}
	return fsys
}

func texts(problems []Problem) []string {
	var s []string
	for _, p := range problems {
		s = append(s, p.String())
	}
	return s
}

func TestLoadLesson(t *testing.T) {
	t.Parallel()
	c, problems := Load(lessonFS("See [b](../02-b/index.md#two-x).\n\n:::exercise t/one\n", "## Two `x`\n\n```console\n$ true\n```\n"))
	if len(problems) > 0 {
		t.Fatalf("problems: %q", texts(problems))
	}
	a, b := c.Lesson("t/a"), c.Lesson("t/b")
	if a == nil || b == nil || c.Lesson("t/c") != nil {
		t.Fatalf("lessons: %v", c.Tracks[0].Lessons)
	}
	if a.Duration != 10 || a.Difficulty != Introductory || !slices.Equal(a.ExerciseIDs, []string{"t/one"}) {
		t.Errorf("lesson a is %+v", a)
	}
	if want := []Heading{{2, "two-x", "Two x"}}; !slices.Equal(b.Headings, want) {
		t.Errorf("headings of b are %v, want %v", b.Headings, want)
	}
	if want := []Transcript{{Line: 11, Steps: []Step{{Line: 11, Command: "true"}}}}; !reflect.DeepEqual(b.Transcripts, want) {
		t.Errorf("transcripts of b are %v, want %v", b.Transcripts, want)
	}
	if c.LessonOf("t/one") != a || c.LessonOf("t/two") != nil {
		t.Error("LessonOf does not find the lesson that shows an exercise")
	}
}

func TestRenderFillsSlots(t *testing.T) {
	t.Parallel()
	c, problems := Load(lessonFS("Do:\n\n:::note\n\n:::exercise t/one\n\n:::\n\n```mermaid title=\"D\"\nflowchart LR\n  A --> B\n```\n\n[b](../02-b/index.md)\n", ""))
	if len(problems) > 0 {
		t.Fatalf("problems: %q", texts(problems))
	}
	var got strings.Builder
	err := c.Lesson("t/a").Render(&got, Slots{
		Exercise: func(id string) (template.HTML, error) { return template.HTML("<x-card>" + id + "</x-card>"), nil },
		Diagram: func(source string) (template.HTML, bool) {
			return "<svg/>", source == "flowchart LR\n  A --> B"
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"</p>\n<x-card>t/one</x-card></aside>", `<figure class="diagram"><svg/><figcaption>D</figcaption></figure>`, `<a href="/lessons/t/b">b</a>`} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("no %s in\n%s", want, got.String())
		}
	}
	err = c.Lesson("t/a").Render(io.Discard, Slots{Exercise: func(string) (template.HTML, error) { return "", io.ErrUnexpectedEOF }})
	if err == nil || !strings.Contains(err.Error(), "render lesson t/a") {
		t.Errorf("a slot that fails: %v", err)
	}
}

func TestLoadOrdersTracksAndLessons(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{}
	for track, order := range map[string]string{"a": "2", "b": "1"} {
		fsys[track+"/track.yaml"] = &fstest.MapFile{Data: []byte("title: T\nsummary: S\noutcome: O\norder: " + order + "\n")}
		for _, dir := range []string{"02-first", "10-second"} {
			fsys[track+"/"+dir+"/index.md"] = &fstest.MapFile{Data: []byte(front)}
		}
	}
	fsys["testdata/x.md"] = &fstest.MapFile{}
	c, problems := Load(fsys)
	if len(problems) > 0 {
		t.Fatalf("problems: %q", texts(problems))
	}
	var got []string
	for _, t := range c.Tracks {
		for _, l := range t.Lessons {
			got = append(got, l.ID)
		}
	}
	if want := []string{"b/first", "b/second", "a/first", "a/second"}; !slices.Equal(got, want) {
		t.Errorf("order is %v, want %v", got, want)
	}
}

func TestLoadNamesProblems(t *testing.T) {
	t.Parallel()
	const at = "t/01-a/index.md"
	body := func(s string) fstest.MapFS { return lessonFS(s) }
	file := func(name, data string) fstest.MapFS {
		fsys := lessonFS("")
		fsys[name] = &fstest.MapFile{Data: []byte(data)}
		return fsys
	}
	tests := []struct {
		name string
		fsys fstest.MapFS
		want []string
	}{
		{"nothing", fstest.MapFS{}, []string{".: no track here: a track is a folder with a track.yaml"}},
		{"track without lessons", fstest.MapFS{"t/track.yaml": {Data: []byte(goodTrack)}}, []string{"t/track.yaml: the track has no lesson"}},
		{"unknown field of a track", file("t/track.yaml", goodTrack+"colour: red\n"), []string{"t/track.yaml:5: unknown field colour"}},
		{"no order", file("t/track.yaml", "title: T\nsummary: S\noutcome: O\n"), []string{"t/track.yaml:1: order is missing"}},
		{"folder's name", file("t/b/index.md", front), []string{"t/b: a lesson's folder is named nn-slug, for example 03-the-watch-protocol"}},
		{"same number", file("t/01-b/index.md", front), []string{"t/01-b: has the same number as 01-a"}},
		{"same slug", file("t/02-a/index.md", front), []string{"t/02-a: has the same slug as 01-a"}},
		{"no front matter", file(at, "hello"), []string{at + ":1: the file must begin with front matter: a line ---, then title, summary, duration, difficulty, objectives", "t/track.yaml: the track has no lesson"}},
		{"front matter without end", file(at, "---\ntitle: x\n"), []string{at + ":1: the front matter has no end: a line --- is missing", "t/track.yaml: the track has no lesson"}},
		{"unknown field", file(at, "---\ntitle: L\nlevel: 3\n---\n"), []string{at + ":3: unknown field level", "t/track.yaml: the track has no lesson"}},
		{"wrong type", file(at, "---\nduration: long\n---\n"), []string{at + ":2: cannot unmarshal `long` where a number is wanted", "t/track.yaml: the track has no lesson"}},
		{"no YAML", file(at, "---\ntitle: [\n---\n"), []string{at + ":2: did not find expected node content", "t/track.yaml: the track has no lesson"}},
		{"missing fields", file(at, "---\ntitle: L\n---\n"), []string{at + ":1: difficulty is missing", at + ":1: duration is missing", at + ":1: objectives is missing", at + ":1: summary is missing"}},
		{"wrong values", file(at, strings.NewReplacer("10", "300", "introductory", "hard").Replace(front)), []string{at + ":1: duration is in minutes, 1 to 120", at + `:1: difficulty is introductory, intermediate or advanced, not "hard"`}},
		{"unknown backend", file(at, strings.Replace(front, "---\ntitle", "---\ncluster: {backend: minikube}\ntitle", 1)), []string{at + `:1: cluster.backend is any, embedded or kind, not "minikube"`}},
		{"unknown need", file(at, strings.Replace(front, "---\ntitle", "---\nneeds: [t/x, t/a]\ntitle", 1)), []string{at + ":1: needs an unknown lesson t/x", at + ":1: needs itself"}},
		{"unknown directive", body("\n:::tip\n:::\n"), []string{at + ":9: unknown directive :::tip; there are exercise, predict, note, warning and edge-case"}},
		{"unclosed directive", body("a\n\n:::note\n\nb\n"), []string{at + ":10: :::note is never closed: a line ::: is missing"}},
		{"unclosed in unclosed", body(":::note\n:::warning\nb\n:::\n"), []string{at + ":8: :::note is never closed: a line ::: is missing"}},
		{"closing alone", body("a\n\n:::\n"), []string{at + ":10: ::: closes nothing"}},
		{"empty directive", body(":::note\n:::\n"), []string{at + ":8: :::note is empty"}},
		{"exercise without an ID", body(":::exercise\n"), []string{at + ":8: which exercise? Write :::exercise track/name"}},
		{"prediction without an answer", body(":::predict\nWhy?\n:::\n"), []string{at + ":8: :::predict has no answer: write it below a line ---, with blank lines around that"}},
		{"prediction without a question", body(":::predict\n---\nSo.\n:::\n"), []string{at + ":8: :::predict needs a question above the line --- and an answer below it"}},
		{"prediction without a right option", body(":::predict\nWhich?\n\n- [ ] a\n- [ ] b\n\n---\n\nNone.\n\n:::\n"), []string{at + ":8: 0 options of :::predict are marked - [x] as right; one is"}},
		{"title in the body", body("# T\n\n## A\n"), []string{at + ":8: the title is in the front matter; headings begin with ##"}},
		{"heading skipped", body("## A\n\n#### B\n\n##### C\n"), []string{at + ":10: a heading of level 4 follows one of level 2", at + ":12: a heading of level 5 is too deep; the deepest is ####"}},
		{"language missing", body("```\nx\n```\n"), []string{at + ":8: the code block does not name its language; there is ```text"}},
		{"language unknown", body("```klingon\nx\n```\n"), []string{at + ":8: unknown language \"klingon\"; there is ```text"}},
		{"flag unknown", body("```yaml run\nx\n```\n"), []string{at + `:8: a yaml block does not take "run"`}},
		{"quote open", body("```yaml title=\"x\ny\n```\n"), []string{at + `:8: a quote is not closed in "yaml title=\"x"`}},
		{"indented code", body("a\n\n    b\n"), []string{at + ":10: indented text is a code block; fence it with ``` and name its language"}},
		{"transcript without command", body("a\n\n```console\nx\n```\n"), []string{at + `:10: a transcript begins with a command: "$ kubectl …"`}},
		{"proxy of another page", body("```sh run\ncurl -sSN localhost:8001/version\n```\n\n```sh\nkubectl proxy --port=8001 &\ncurl -s localhost:8001\n```\n\n```sh run\ncurl localhost:8001\n```\n"), []string{
			at + ":8: nothing on this page has started what listens on localhost:8001: show `kubectl proxy --port=8001 &` in a block above, or here"}},
		{"silent curl", body("```sh run\ncurl -sN localhost:9/ | jq\n```\n"), []string{at + ":8: curl -sN hides its errors from who runs it; write curl -sNS"}},
		{"diagram without title", body("```mermaid\nflowchart LR\n```\n"), []string{at + `:8: a diagram needs a title for those who do not see it: mermaid title="…"`}},
		{"raw HTML", body("a\n\nb <name> c\n\n<div>\nx\n</div>\n"), []string{at + ":10: raw HTML is shown as text; write Markdown, or mark <name> as code", at + ":12: raw HTML is shown as text; write Markdown, or mark it as code"}},
		{"comments are fine", body("a <!-- b -->\n\n<!-- c\nd -->\n"), nil},
		{"picture", body("![a](b.png)\n"), []string{at + ":8: pictures are not served; draw a mermaid diagram"}},
		{"dead lesson", body("a\n[b](../02-b/index.md)\n"), []string{at + ":9: links to an unknown lesson t/b"}},
		{"dead heading", body("[b](#b)\n"), []string{at + ":8: links to a heading that this page does not have: #b"}},
		{"odd links", body("[a](/x) [b](../b.md) [c](http://x) [d](ftp://x) [e](..) [f]()\n"), []string{
			at + ":8: link /x should be relative, for example ../02-slug/index.md, so that it works on a Git host too",
			at + ":8: link ../b.md is no lesson's index.md",
			at + ":8: link http://x should be https",
			at + ":8: link ftp://x should be an https URL, or the path of a lesson's index.md",
			at + ":8: link .. is no lesson's index.md",
			at + ":8: link  leads nowhere",
		}},
		{"good links", body("[a](https://kubernetes.io) [b](#c)\n\n## C\n\n[self](index.md#c)\n"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, problems := Load(tt.fsys); !slices.Equal(texts(problems), tt.want) {
				t.Errorf("problems are\n%s\nwant\n%s", strings.Join(texts(problems), "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	c, _ := Load(lessonFS(":::exercise t/one\n\n:::exercise t/two\n", ":::exercise t/one\n"))
	want := []string{
		"../exercises/t/three.yaml: no lesson shows this exercise",
		"t/01-a/index.md:10: unknown exercise t/two",
		"t/02-b/index.md:8: exercise t/one is already at t/01-a/index.md:8",
	}
	if got := texts(c.Lint([]string{"t/one", "t/three"})); !slices.Equal(got, want) {
		t.Errorf("problems are %q, want %q", got, want)
	}
}

func TestEmbeddedCurriculumIsSound(t *testing.T) {
	t.Parallel()
	c, problems := Load(Embedded())
	for _, p := range problems {
		t.Error(p)
	}
	for _, track := range c.Tracks {
		for _, l := range track.Lessons {
			if err := l.Render(io.Discard, Slots{}); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestParseTranscript(t *testing.T) {
	t.Parallel()
	steps, err := parseTranscript("$ cat <<E\n> a\n>\n> E\na\n\n> b\n$ true\n\n$ echo $ \n$ \n", 5)
	if err == nil {
		t.Errorf("a prompt without a command is accepted: %v", steps)
	}
	steps, err = parseTranscript("$ cat <<E\n> a\n>\n> E\na\n\n> b\n$ true\n\n$ echo x\nx\n", 5)
	want := []Step{{5, "cat <<E\na\n\nE", "a\n\n> b"}, {12, "true", ""}, {14, "echo x", "x"}}
	if err != nil || !slices.Equal(steps, want) {
		t.Errorf("steps are %+v, %v, want %+v", steps, err, want)
	}
}

func TestRenderInline(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"Pod `w1` is *there*": "Pod <code>w1</code> is <em>there</em>",
		"a <b>":               "a &lt;b&gt;",
		"- a list":            "- a list",
		"a\n\nb":              "a\n\nb",
		"":                    "",
	} {
		if got := string(RenderInline(src)); got != want {
			t.Errorf("RenderInline(%q) = %q, want %q", src, got, want)
		}
	}
}

// The names of the exercises' files are enough here: what is in them is checked where they are loaded.
func TestEmbeddedCurriculumShowsEveryExercise(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../exercises/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no exercises: %v", err)
	}
	var ids []string
	for _, f := range files {
		ids = append(ids, path.Base(path.Dir(f))+"/"+strings.TrimSuffix(path.Base(f), ".yaml"))
	}
	c, _ := Load(Embedded())
	for _, p := range c.Lint(ids) {
		t.Error(p)
	}
}
