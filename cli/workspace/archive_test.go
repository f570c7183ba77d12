package workspace

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write operator.txtar anew")

const (
	reference = "../../operator"
	ours      = "github.com/apilab/apilab/operator"
	theirs    = "example.com/backup-operator"
)

// shared are the files of the reference operator that the project begins with as they are.
var shared = []string{
	".gitignore", "Dockerfile", "Makefile", "PROJECT", "go.mod", "go.sum", "hack/boilerplate.go.txt", "cmd/main.go",
	"internal/controller/suite_test.go", "internal/controller/backuppolicy_controller_test.go",
	"config/manager/catalog.yaml", "config/manager/manager.yaml", "config/manager/namespace.yaml",
	"config/rbac/leader_election_role.yaml", "config/rbac/role_binding.yaml", "config/rbac/service_account.yaml",
}

// TestArchiveIsFresh keeps the project to the reference operator, so that they do not drift apart.
func TestArchiveIsFresh(t *testing.T) {
	t.Parallel()
	archive := &txtar.Archive{Comment: []byte("The project that `apilab workspace operator` lays out. Generated from operator/; do not edit.\n")}
	add := func(file, name string) {
		data, err := os.ReadFile(filepath.Join(reference, file))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(ours+"/skeleton", theirs, ours, theirs).Replace(string(data))
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(text)})
	}
	for _, name := range shared {
		add(name, name)
	}
	err := filepath.WalkDir(filepath.Join(reference, "skeleton"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(filepath.Join(reference, "skeleton"), path)
			add(filepath.Join("skeleton", name), filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := txtar.Format(archive)
	if got := txtar.Parse(want); len(got.Files) != len(archive.Files) {
		t.Fatal("a file looks like an archive itself")
	}
	if *update {
		if err := os.WriteFile("operator.txtar", want, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(operator, want) {
		t.Error("operator.txtar is not of this operator: run go test ./cli/workspace -update")
	}
}

// TestGeneratedIsFresh keeps copies of the reference's CRD to it.
func TestGeneratedIsFresh(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		t.Helper()
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if read(reference+"/skeleton/api/v1alpha1/groupversion_info.go") != read(reference+"/api/v1alpha1/groupversion_info.go") {
		t.Error("the skeleton's groupversion_info.go is not that of the reference")
	}
	crd := strings.TrimPrefix(read(reference+"/config/crd/bases/storage.example.com_backuppolicies.yaml"), "---\n")
	indented := "  " + strings.ReplaceAll(strings.TrimSuffix(crd, "\n"), "\n", "\n  ") + "\n"
	for _, name := range []string{"backdrops/bakery.yaml", "write-the-types.yaml"} {
		if !strings.Contains(read("../../exercises/operator-build/"+name), indented) {
			t.Errorf("exercises/operator-build/%s does not have the CRD that the reference's types make", name)
		}
	}
}

// TestProjectBuilds needs the modules that the operator needs; make test-operator has them.
func TestProjectBuilds(t *testing.T) {
	if os.Getenv("APILAB_TEST_OPERATOR") == "" {
		t.Skip("make test-operator builds the project")
	}
	dir := t.TempDir()
	if _, err := Operator(dir, false); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"build", "-o", os.DevNull, "./cmd"}, {"vet", "./..."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0") // as without a network
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
