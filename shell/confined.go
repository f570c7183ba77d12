package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
)

// Confined starts the process of a shell as learners have it, which then tries what only the system can prevent once the
// shell's own walls have a hole. It returns in words what the process could do: nothing where it is closed in. Who serves
// people that it does not know asks first. Of the options, those of the sandbox count.
func Confined(ctx context.Context, o Options) (gaps []string, err error) {
	rt, err := newRuntime(&o)
	if err != nil {
		return nil, err
	}
	defer rt.close()
	s, err := rt.settings(&o)
	if err != nil {
		return nil, err
	}
	outside, err := os.MkdirTemp(filepath.Dir(rt.home), "outside-")
	if err != nil {
		return nil, fmt.Errorf("try the sandbox: %w", err)
	}
	defer os.RemoveAll(outside)
	s.Trial = &trial{Read: filepath.Join(outside, "secret"), Write: filepath.Join(outside, "new")}
	if err := os.WriteFile(s.Trial.Read, []byte("secret"), 0o600); err != nil {
		return nil, fmt.Errorf("try the sandbox: %w", err)
	}
	if s.Trial.Run, err = exec.LookPath("true"); err != nil {
		s.Trial.Run = "" // not a program on the whole machine
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("try the sandbox: %w", err)
	}
	defer listener.Close()
	s.Trial.Dial = listener.Addr().String()

	conf, err := s.send()
	if err != nil {
		return nil, fmt.Errorf("try the sandbox: %w", err)
	}
	defer conf.Close()
	cmd := exec.CommandContext(ctx, rt.path("bin", "shell"))
	cmd.Args = []string{"shell"}
	cmd.Dir = rt.home
	cmd.Env = []string{"PATH=" + rt.path("bin"), "HOME=" + rt.home}
	cmd.ExtraFiles = []*os.File{conf}
	last := &tail{}
	cmd.Stderr = last
	told, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(told, &gaps)
	}
	if err != nil {
		return nil, fmt.Errorf("try the sandbox: %w: %s", err, bytes.TrimSpace([]byte(last.String())))
	}
	return gaps, nil
}

// A trial is what a process is not to reach.
type trial struct {
	Read  string `json:"read"`  // a file
	Write string `json:"write"` // a file that is not there
	Run   string `json:"run"`   // a program, "" for none
	Dial  string `json:"dial"`  // HOST:PORT
}

// try is Confined's end in the process: it tells on the standard output what can be done.
func (t trial) try() error {
	gaps := []string{}
	for _, attempt := range []struct {
		gap string
		do  func() error
	}{
		{"read files outside of its home", func() error { _, err := os.ReadFile(t.Read); return err }},
		{"write files outside of its home", func() error { return os.WriteFile(t.Write, nil, 0o600) }},
		{"run programs of this machine", func() error { return exec.Command(t.Run).Run() }},
		{"connect to other programs of this machine", func() error {
			conn, err := net.Dial("tcp", t.Dial)
			if err == nil {
				conn.Close()
			}
			return err
		}},
	} {
		if attempt.do() == nil {
			gaps = append(gaps, attempt.gap)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(gaps)
}
