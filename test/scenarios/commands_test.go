package scenarios

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os/exec"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience bounds every wait: a cluster starts within seconds, on a busy machine within many.
const patience = 2 * time.Minute

// exits runs a command and wants this exit code: exits CODE COMMAND [ARGUMENTS].
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENTS]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case err == nil && want == 0:
	case errors.As(err, &exit) && exit.ExitCode() == want:
	default:
		ts.Fatalf("%v: %v, want exit code %d", args[1:], err, want)
	}
}

// await runs a command until it succeeds: await COMMAND [ARGUMENTS].
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: await COMMAND [ARGUMENTS]")
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		err := ts.Exec(args[0], args[1:]...)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%v never succeeded: %v", args, err)
		}
	}
}

// occupy listens on a free port of 127.0.0.1 until the scenario ends, and puts its number into a variable: occupy VARIABLE.
func occupy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: occupy VARIABLE")
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Setenv(args[0], port)
}

// fetch gets a page as a browser with cookies does and writes its text to stdout; the last word of FILE is the address:
// fetch CODE FILE.
func fetch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fetch CODE FILE")
	}
	jar, err := cookiejar.New(nil)
	ts.Check(err)
	client := &http.Client{Jar: jar, Timeout: patience}
	response, err := client.Get(lastWord(ts.ReadFile(args[1])))
	ts.Check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	ts.Check(err)
	_, err = ts.Stdout().Write(body)
	ts.Check(err)
	if strconv.Itoa(response.StatusCode) != args[0] {
		ts.Fatalf("%s: %s, want %s", response.Request.URL, response.Status, args[0])
	}
}
