package content

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func withReference(body, lesson string) fstest.MapFS {
	fsys := lessonFS(lesson)
	fsys["t/reference/cheat-sheet.md"] = &fstest.MapFile{Data: []byte(body)}
	return fsys
}

const referenceFront = "---\ntitle: Cheat sheet\nsummary: All of it.\n---\n" // 4 lines

func TestLoadReference(t *testing.T) {
	t.Parallel()
	c, problems := Load(withReference(referenceFront+"Look:\n\n## Reads\n\n```sh run\nkubectl get pods\n```\n\nSee [a](../01-a/index.md#x).\n", "## X\n\n[b](../reference/cheat-sheet.md#reads)\n"))
	if len(problems) > 0 {
		t.Fatalf("problems: %q", texts(problems))
	}
	r := c.Reference("t/cheat-sheet")
	if r == nil || c.Tracks[0].References[0] != r || c.Reference("t/other") != nil {
		t.Fatalf("the reference page is %v", r)
	}
	if r.Title != "Cheat sheet" || r.Summary != "All of it." || r.Track != "t" || r.Slug != "cheat-sheet" {
		t.Errorf("it is %+v", r)
	}
	want := []Section{{Text: "Look:"}, {Heading{2, "reads", "Reads"}, "kubectl get pods\nSee a."}}
	if !slices.Equal(r.Sections, want) {
		t.Errorf("sections are %+v, want %+v", r.Sections, want)
	}
	var page, lesson strings.Builder
	if err := r.Render(&page, Slots{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Lesson("t/a").Render(&lesson, Slots{}); err != nil {
		t.Fatal(err)
	}
	if want := `<a href="/lessons/t/a#x">a</a>`; !strings.Contains(page.String(), want) {
		t.Errorf("no %s in\n%s", want, page.String())
	}
	if want := `<a href="/reference/t/cheat-sheet#reads">b</a>`; !strings.Contains(lesson.String(), want) {
		t.Errorf("no %s in\n%s", want, lesson.String())
	}
}

func TestReferenceNamesProblems(t *testing.T) {
	t.Parallel()
	const at = "t/reference/cheat-sheet.md"
	file := func(name string) fstest.MapFS {
		fsys := lessonFS("")
		fsys[name] = &fstest.MapFile{Data: []byte(referenceFront)}
		return fsys
	}
	for _, tt := range []struct {
		name string
		fsys fstest.MapFS
		want []string
	}{
		{"no front matter", withReference("hello", ""), []string{at + ":1: the file must begin with front matter: a line ---, then title, summary"}},
		{"a lesson's field", withReference("---\ntitle: A\nduration: 3\n---\n", ""), []string{at + ":3: unknown field duration"}},
		{"no summary", withReference("---\ntitle: A\n---\n", ""), []string{at + ":1: summary is missing"}},
		{"exercise", withReference(referenceFront+":::exercise t/x\n", ""), []string{at + ":5: an exercise has its place in a lesson"}},
		{"transcript", withReference(referenceFront+"\n```console\n$ true\n```\n", ""), []string{at + ":6: a transcript has its place in a lesson, where verify runs it; show commands as ```sh"}},
		{"dead links", withReference(referenceFront+"[a](../02-b/index.md) [b](other.md) [c](#c)\n", ""), []string{
			at + ":5: links to an unknown lesson t/b", at + ":5: links to an unknown reference page t/other", at + ":5: links to a heading that this page does not have: #c"}},
		{"dead heading", withReference(referenceFront, "[b](../reference/cheat-sheet.md#x)\n"), []string{"t/01-a/index.md:8: links to a heading that reference page t/cheat-sheet does not have: #x"}},
		{"file's name", file("t/reference/Cheat Sheet.md"), []string{"t/reference/Cheat Sheet.md: a reference page is a file slug.md, for example cheat-sheet.md"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, problems := Load(tt.fsys); !slices.Equal(texts(problems), tt.want) {
				t.Errorf("problems are\n%s\nwant\n%s", strings.Join(texts(problems), "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestTrackNeeds(t *testing.T) {
	t.Parallel()
	fsys := lessonFS("")
	fsys["t/track.yaml"] = &fstest.MapFile{Data: []byte("title: T\nsummary: S\noutcome: O\norder: 2\nneeds: [s, t, u, x]\n")}
	for track, order := range map[string]string{"s": "1", "u": "3"} {
		fsys[track+"/track.yaml"] = &fstest.MapFile{Data: []byte("title: T\nsummary: S\noutcome: O\norder: " + order + "\n")}
		fsys[track+"/01-a/index.md"] = &fstest.MapFile{Data: []byte(front)}
	}
	want := []string{
		"t/track.yaml:1: needs itself",
		"t/track.yaml:1: needs the track u, which comes after it; order says which comes first",
		"t/track.yaml:1: needs an unknown track x",
	}
	c, problems := Load(fsys)
	if !slices.Equal(texts(problems), want) {
		t.Errorf("problems are %q, want %q", texts(problems), want)
	}
	if got := c.Track("t").Needs; !slices.Equal(got, []string{"s", "t", "u", "x"}) {
		t.Errorf("needs are %q", got)
	}
}

func TestSections(t *testing.T) {
	t.Parallel()
	c, _ := Load(lessonFS("Intro `x`.\n\n## A\n\n- one\n- two\n\n```yaml\nkind: Pod\n```\n\n```console\n$ kubectl get ns\nNAME\n```\n\n### B\n\n#### C\n\n| a | b |\n|---|---|\n| c | d |\n\n:::note Of note\n\nHear.\n\n:::\n"))
	want := []Section{
		{Text: "Intro x."},
		{Heading{2, "a", "A"}, "one\ntwo\nkubectl get ns"},
		{Heading{3, "b", "B"}, "C\na\nb\nc\nd\nHear."},
	}
	if got := c.Lesson("t/a").Sections; !slices.Equal(got, want) {
		t.Errorf("sections are %+v, want %+v", got, want)
	}
}
