// Package scenarios plays whole sessions with the real binary, bin/apilab or that in APILAB_BIN: what someone types, and what they
// see. Each file in testdata is one.
package scenarios

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestScenarios(t *testing.T) {
	binary, err := filepath.Abs(cmp.Or(os.Getenv("APILAB_BIN"), "../../bin/apilab"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(binary); err != nil {
		t.Fatalf("%v: run `make build` first", err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", filepath.Dir(binary)+string(filepath.ListSeparator)+os.Getenv("PATH"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("APILAB_DATA_DIR", filepath.Join(e.WorkDir, "data"))
			e.Setenv("APILAB_NO_OPEN", "true")
			e.Setenv("KUBECONFIG", filepath.Join(e.WorkDir, "kubeconfig"))
			if err := people(e.Values); err != nil {
				return err
			}
			return os.Mkdir(filepath.Join(e.WorkDir, "home"), 0o700)
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "kubectl":
				_, err := exec.LookPath("kubectl")
				return err == nil, nil
			case "namespaces":
				return canUnshare(), nil
			case "other-user":
				return canBecomeNobody(), nil
			default:
				return false, errors.New("there is no condition " + name)
			}
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"await":   await,
			"occupy":  occupy,
			"nobody":  asNobody,
			"orphans": orphans,
			"murder":  murder,
			"fetch":   fetch,
			"browse":  browse,
			"find":    find,
		},
	})
}
