package scenarios

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// controlPlanes are the control planes of the clusters in the scenario's folder: they run in their data's folder.
func controlPlanes(ts *testscript.TestScript) (pids []int) {
	entries, err := os.ReadDir("/proc")
	ts.Check(err)
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		folder, err := os.Readlink(filepath.Join("/proc", entry.Name(), "cwd"))
		if err != nil || !strings.HasPrefix(folder, ts.Getenv("WORK")+"/") {
			continue
		}
		command, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err == nil && strings.Contains(string(command), "\x00control-plane\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// orphans waits until no control plane is left; ! orphans wants one.
func orphans(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || args[0] != "gone" {
		ts.Fatalf("usage: [!] orphans gone")
	}
	if neg {
		if len(controlPlanes(ts)) == 0 {
			ts.Fatalf("no control plane runs")
		}
		return
	}
	for deadline := time.Now().Add(patience); len(controlPlanes(ts)) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("still there: %v", controlPlanes(ts))
		}
	}
}

// murder kills the control plane without a warning.
func murder(ts *testscript.TestScript, neg bool, args []string) {
	pids := controlPlanes(ts)
	if neg || len(args) != 0 || len(pids) != 1 {
		ts.Fatalf("there should be one control plane to murder: %v", pids)
	}
	ts.Check(syscall.Kill(pids[0], syscall.SIGKILL))
}

// nobody runs a command without any rights: nobody COMMAND [ARGUMENTS], or ! nobody … if it should fail.
func asNobody(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec("setpriv", append([]string{"--reuid=65534", "--regid=65534", "--clear-groups"}, args...)...)
	if (err != nil) != neg {
		ts.Fatalf("%v: %v", args, err)
	}
}

func canBecomeNobody() bool {
	_, err := exec.LookPath("setpriv")
	return err == nil && os.Getuid() == 0
}

// canUnshare: namespaces of one's own for the network and mounts, which containers and some distributions do not allow.
func canUnshare() bool {
	return exec.Command("unshare", "--map-root-user", "--net", "--mount", "true").Run() == nil
}

func lastWord(text string) string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
