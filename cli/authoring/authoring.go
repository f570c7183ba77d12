// Package authoring lays out new tracks, lessons and exercises: files that hold as they are, from which an author goes on.
package authoring

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/apilab/apilab/content"
)

//go:embed templates
var files embed.FS

var templates = template.Must(template.New("").Delims("<<", ">>").ParseFS(files, "templates/*"))

var (
	slug      = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)
	lessonDir = regexp.MustCompile(`^([0-9]{2})-(.+)$`)
)

// A Folder is one that holds content/ and exercises/. What is not there yet is made.
type Folder string

// A new is what the templates are filled with.
type values struct {
	Track, Name, Title string
	Order              int
}

// SplitID splits "track/name". The error says what a name looks like.
func SplitID(id string) (track, name string, err error) {
	track, name, ok := strings.Cut(id, "/")
	if !ok || !slug.MatchString(track) || !slug.MatchString(name) {
		return "", "", fmt.Errorf("%q is no id: write track/name, both in lower-case letters, digits and hyphens, e.g. onboarding/first-steps", id)
	}
	return track, name, nil
}

// NewLesson writes a lesson, the last of its track, and the track if it is new. It returns the files that it wrote.
func (f Folder) NewLesson(id string) (written []string, err error) {
	track, name, err := SplitID(id)
	if err != nil {
		return nil, err
	}
	lessons, err := f.lessons(track)
	if err != nil {
		return nil, err
	}
	number := 1
	for _, dir := range lessons {
		n, other := numbered(dir)
		if other == name {
			return nil, fmt.Errorf("there is a lesson %s already: %s", id, f.lesson(track, dir))
		}
		number = max(number, n+1)
	}
	if number > 99 {
		return nil, fmt.Errorf("the track %s is full: lessons are numbered from 01 to 99", track)
	}
	for _, room := range []string{"content", "exercises"} { // both make the folder one of a curriculum
		if err := os.MkdirAll(filepath.Join(string(f), room, track), 0o755); err != nil {
			return nil, err
		}
	}
	meta := filepath.Join(string(f), "content", track, "track.yaml")
	if _, err := os.Stat(meta); errors.Is(err, fs.ErrNotExist) {
		if err := create(meta, "track.yaml", values{Track: track, Title: title(track), Order: f.nextOrder()}); err != nil {
			return nil, err
		}
		written = append(written, meta)
	}
	index := f.lesson(track, fmt.Sprintf("%02d-%s", number, name))
	if err := create(index, "lesson.md", values{Track: track, Name: name, Title: title(name)}); err != nil {
		return written, err
	}
	return append(written, index), nil
}

// NewExercise writes an exercise and puts its card at the end of a lesson: that of the id "track/slug", or of the last one of
// its own track if that is empty. It returns the files that it wrote.
func (f Folder) NewExercise(id, lesson string) (written []string, err error) {
	track, name, err := SplitID(id)
	if err != nil {
		return nil, err
	}
	index, err := f.find(track, lesson)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(index)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(string(f), "exercises", track, name+".yaml")
	if err := create(file, "exercise.yaml", values{Track: track, Name: name, Title: title(name)}); err != nil {
		return nil, err
	}
	text = append(bytes.TrimRight(text, "\n"), []byte("\n\n:::exercise "+id+"\n")...)
	if err := os.WriteFile(index, text, 0o644); err != nil {
		return []string{file}, fmt.Errorf("put the exercise into its lesson: %w; add the line \":::exercise %s\" to %s", err, id, index)
	}
	return []string{file, index}, nil
}

// find returns a lesson's file.
func (f Folder) find(track, lesson string) (string, error) {
	name := ""
	if lesson != "" {
		var err error
		if track, name, err = SplitID(lesson); err != nil {
			return "", err
		}
	}
	dirs, err := f.lessons(track)
	if err != nil {
		return "", err
	}
	for _, dir := range slices.Backward(dirs) {
		if _, other := numbered(dir); name == "" || other == name {
			return f.lesson(track, dir), nil
		}
	}
	if name != "" {
		return "", fmt.Errorf("there is no lesson %s in %s: make it with `apilab new lesson %s`", lesson, string(f), lesson)
	}
	return "", fmt.Errorf("the track %s has no lesson for the exercise to be in: make one first, with `apilab new lesson %s/NAME`", track, track)
}

// lessons are the folders of a track's lessons, in their order.
func (f Folder) lessons(track string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(string(f), "content", track))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() && lessonDir.MatchString(e.Name()) {
			dirs = append(dirs, e.Name())
		}
	}
	return dirs, nil
}

func (f Folder) lesson(track, dir string) string {
	return filepath.Join(string(f), "content", track, dir, "index.md")
}

// nextOrder is the place after all tracks that can be read.
func (f Folder) nextOrder() int {
	curriculum, _ := content.Load(os.DirFS(filepath.Join(string(f), "content")))
	if len(curriculum.Tracks) == 0 {
		return 1
	}
	return slices.MaxFunc(curriculum.Tracks, func(a, b *content.Track) int { return cmp.Compare(a.Order, b.Order) }).Order + 1
}

func numbered(dir string) (int, string) {
	parts := lessonDir.FindStringSubmatch(dir)
	n, _ := strconv.Atoi(parts[1])
	return n, parts[2]
}

// title makes "Watch a pod" of "watch-a-pod".
func title(slug string) string {
	words := strings.ReplaceAll(slug, "-", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// create writes a file that is not there yet.
func create(path, name string, v values) error {
	var text bytes.Buffer
	if err := templates.ExecuteTemplate(&text, name, v); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: choose another name, or remove it", path)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(text.Bytes())
	return errors.Join(err, file.Close())
}
