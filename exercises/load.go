package exercises

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// A Problem is something wrong in an exercise's file, for its author.
type Problem struct {
	File    string // relative to the folder of exercises, with slashes
	Line    int    // from 1; 0 when it is of the whole file
	Message string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// A Set is a number of exercises, each without a problem. It does not change.
type Set struct {
	all  []*Exercise // by ID
	byID map[string]*Exercise
}

// All returns the exercises in the order of their IDs. The caller must not change them.
func (s *Set) All() []*Exercise { return s.all }

// Get returns the exercise of that ID.
func (s *Set) Get(id string) (*Exercise, bool) {
	e, ok := s.byID[id]
	return e, ok
}

// Load reads all files <track>/<name>.yaml, and the backdrops that they name. An exercise whose own file or whose backdrop
// has a problem is left out of the set; one that only names an exercise that is not there is kept. Problems are in the
// order of files and lines.
func Load(fsys fs.FS) (*Set, []Problem) {
	set := &Set{byID: map[string]*Exercise{}}
	needs := map[string]map[string]int{} // of each exercise: the line of each ID that it needs
	backdrops := backdrops{}
	var problems []Problem
	var files []*exerciseFile
	err := fs.WalkDir(fsys, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			problems = append(problems, Problem{File: file, Message: reason(err)})
			return nil
		}
		if entry.IsDir() || !isExercise(file) {
			if strings.HasSuffix(file, ".yml") {
				problems = append(problems, Problem{File: file, Message: "the name of an exercise's file ends in .yaml"})
			}
			return nil
		}
		id := strings.TrimSuffix(file, ".yaml")
		if validBackdrop.MatchString(id) {
			problems = append(problems, backdrops.read(fsys, id, file)...)
			return nil
		}
		if !validID.MatchString(id) {
			problems = append(problems, Problem{File: file, Message: "an exercise's file is <track>/<name>.yaml, of lower-case letters, digits and hyphens"})
			return nil
		}
		files = append(files, &exerciseFile{id: id, name: file})
		return nil
	})
	readAll(fsys, files)
	for _, f := range files {
		problems = append(problems, f.problems...)
		if f.exercise != nil {
			set.all = append(set.all, f.exercise)
			set.byID[f.id] = f.exercise
		}
		if f.needs != nil {
			needs[f.id] = f.needs
		}
	}
	if err != nil {
		problems = append(problems, Problem{File: ".", Message: reason(err)})
	}
	problems = append(problems, backdrops.attach(set)...)
	slices.SortFunc(set.all, func(a, b *Exercise) int { return strings.Compare(a.ID, b.ID) })
	problems = append(problems, checkNeeds(set, needs)...)
	slices.SortStableFunc(problems, func(a, b Problem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
	return set, problems
}

// An exerciseFile is what is in one.
type exerciseFile struct {
	id, name string
	exercise *Exercise
	needs    map[string]int // the line of each ID that it needs; nil: the file could not be read
	problems []Problem
}

// readAll reads the files, as many at once as there are processors: most of it is compiling expressions.
func readAll(fsys fs.FS, files []*exerciseFile) {
	next := make(chan *exerciseFile)
	var readers sync.WaitGroup
	for range min(len(files), runtime.GOMAXPROCS(0)) {
		readers.Go(func() {
			for f := range next {
				f.read(fsys)
			}
		})
	}
	for _, f := range files {
		next <- f
	}
	close(next)
	readers.Wait()
}

func (f *exerciseFile) read(fsys fs.FS) {
	data, err := readBounded(fsys, f.name)
	if err != nil {
		f.problems = []Problem{{File: f.name, Message: reason(err)}}
		return
	}
	f.exercise, f.needs, f.problems = parse(f.id, f.name, data)
	if f.needs == nil {
		f.needs = map[string]int{}
	}
}

// Parse reads one exercise from the text of its file. It returns nil where there is a problem, all of them.
func Parse(id string, data []byte) (*Exercise, []Problem) {
	exercise, _, problems := parse(id, id+".yaml", data)
	return exercise, problems
}

var validID = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?/[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

func isExercise(file string) bool { return path.Ext(file) == ".yaml" }

// reason is an error without the operation and the file, which the problem names anyway.
func reason(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}

func readBounded(fsys fs.FS, file string) ([]byte, error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("the file is larger than %d KiB", maxFile>>10)
	}
	return data, err
}

// parse returns the exercise, or nil and why not, and the lines of the exercises that it needs.
func parse(id, file string, data []byte) (_ *Exercise, needs map[string]int, problems []Problem) {
	defer func() { locate(problems, file, data) }()
	exercise := &Exercise{ID: id}
	d, problem := decodeFile("exercise", data, exercise)
	if problem != nil {
		return nil, nil, []Problem{*problem}
	}
	v := &validator{decoder: d, exercise: exercise}
	if len(d.problems) == 0 {
		exercise.fillModes()
		v.validate()
	}
	needs = map[string]int{}
	for i, need := range exercise.Needs {
		needs[need] = v.line(fmt.Sprintf("needs[%d]", i))
	}
	exercise.backdropLine = v.line("backdrop")
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return a.Line - b.Line })
	if len(d.problems) > 0 {
		return nil, needs, d.problems
	}
	return exercise, needs, nil
}

// locate completes the places of the problems in a file.
func locate(problems []Problem, file string, data []byte) {
	last := bytes.Count(bytes.TrimRight(data, "\n"), []byte("\n")) + 1
	for i := range problems {
		problems[i].File = file
		problems[i].Line = min(problems[i].Line, last) // the YAML parser counts beyond the end
	}
}

// decodeFile fills into, a pointer to what the file holds; what names that.
func decodeFile(what string, data []byte, into any) (*decoder, *Problem) {
	if len(data) > maxFile {
		return nil, &Problem{Message: fmt.Sprintf("the file is larger than %d KiB", maxFile>>10)}
	}
	root, problem := document(what, data)
	if problem != nil {
		return nil, problem
	}
	d := &decoder{what: what, nodes: map[string]*yaml.Node{}, budget: maxNodes}
	d.decode(root, reflect.ValueOf(into).Elem(), "", 0)
	return d, nil
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// document returns the root of the one YAML document in data.
func document(what string, data []byte) (*yaml.Node, *Problem) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, &Problem{Message: "the file is empty"}
	case err != nil:
		return nil, yamlProblem(err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, &Problem{Line: second.Line, Message: "a file holds one " + what + ": remove the second YAML document"}
	case !errors.Is(err, io.EOF):
		return nil, yamlProblem(err)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil, &Problem{Message: "the file is empty"}
	}
	return doc.Content[0], nil
}

func yamlProblem(err error) *Problem {
	p := &Problem{Message: strings.TrimPrefix(err.Error(), "yaml: ")}
	if m := yamlLine.FindStringSubmatch(p.Message); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
		p.Message = strings.Replace(p.Message, m[0], "", 1)
	}
	p.Message = "YAML: " + p.Message
	return p
}
