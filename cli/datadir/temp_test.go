package datadir

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMain also is the process that is killed.
func TestMain(m *testing.M) {
	if os.Getenv("APILAB_TEST_KILLED") != "" {
		d, err := Temp("test")
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString(d.Path)
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	}
	os.Exit(m.Run())
}

func TestTempSweepsWhatTheDeadLeave(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "APILAB_TEST_KILLED=yes")
	left, err := cmd.Output()
	if err == nil || len(left) == 0 {
		t.Fatalf("the process that should be killed said %q, %v", left, err)
	}
	if _, err := os.Stat(string(left)); err != nil {
		t.Fatal("a killed process left nothing:", err)
	}
	foreign := filepath.Join(os.TempDir(), "apilab-test-without-a-lock")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}

	living, err := Temp("test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(string(left)); !os.IsNotExist(err) {
		t.Errorf("what a killed process left is still there: %v", err)
	}
	other, err := Temp("test")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{living.Path, foreign} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("swept: %v", err)
		}
	}
	for _, d := range []*Dir{living, other} {
		if err := d.Remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(d.Path); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", d.Path, err)
		}
	}
}
