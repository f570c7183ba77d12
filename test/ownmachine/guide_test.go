package ownmachine

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apilab/apilab/cli/bench/subject"
	"github.com/apilab/apilab/cli/control"
)

// instead has the commands of the guide run beside other tests, on free ports.
var instead = strings.NewReplacer(":8080", ":0", ":443", ":0", "127.0.0.1:8080", "127.0.0.1:0",
	"apilab serve", "apilab serve --let-learners-harm-this-host")

// TestInstructorsGuide runs every command of docs/instructor.md, as someone does who reads it.
func TestInstructorsGuide(t *testing.T) {
	sections := readGuide(t)
	g := &guide{t: t, dir: t.TempDir()}
	defer g.stop()
	take := func(heading string) []string {
		blocks := sections[heading]
		if delete(sections, heading); len(blocks) == 0 {
			t.Fatalf("the guide has no commands under %q", heading)
		}
		return blocks
	}
	for _, block := range take("Quick start") {
		g.run(block)
	}
	g.join()
	for _, block := range take("Learners on machines of their own") {
		g.run(block)
	}
	blocks := take("TLS")
	slices.Reverse(blocks) // the last one makes the certificate of the first
	for _, block := range blocks {
		g.run(block)
	}
	g.stop()
	for _, block := range take("After the class") {
		g.run(block)
	}
	if _, err := os.Stat(g.path("class")); err == nil {
		t.Error("the data of the class is still there")
	}
	for heading := range sections {
		t.Errorf("the commands under %q were not run", heading)
	}
}

// readGuide returns the blocks of commands by the heading that they stand under.
func readGuide(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/instructor.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string][]string{}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		heading, rest, _ := strings.Cut(section, "\n")
		for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(rest, -1) {
			sections[heading] = append(sections[heading], block[1])
		}
	}
	return sections
}

// A guide is what its reader has by now.
type guide struct {
	t      *testing.T
	dir    string
	server *exec.Cmd // that runs
}

func (g *guide) path(name string) string { return filepath.Join(g.dir, name) }

// run runs commands, the last of which may be a server.
func (g *guide) run(block string) {
	g.t.Helper()
	script, server, serves := strings.Cut(instead.Replace(block), "apilab serve ")
	if script != "" {
		ctx, cancel := context.WithTimeout(g.t.Context(), patience)
		defer cancel()
		if out, err := g.command(ctx, script).CombinedOutput(); err != nil {
			g.t.Fatalf("%s\n%v: %s", script, err, out)
		}
	}
	if serves {
		g.stop()
		g.serve("exec apilab serve " + server)
	}
}

func (g *guide) command(ctx context.Context, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-euc", script)
	cmd.Dir = g.dir
	path := strings.Join([]string{filepath.Dir(binary), filepath.Dir(kubectl), os.Getenv("PATH")}, string(filepath.ListSeparator))
	cmd.Env = []string{"HOME=" + g.dir, "PATH=" + path, "APILAB_NO_OPEN=true"}
	return cmd
}

// serve starts a server and waits until it answers.
func (g *guide) serve(command string) {
	g.t.Helper()
	var log bytes.Buffer
	g.server = g.command(context.Background(), command)
	g.server.Stdout, g.server.Stderr = &log, &log
	if err := g.server.Start(); err != nil {
		g.t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		_, err := control.SignInURL(g.t.Context(), g.path("class"))
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			g.stop()
			g.t.Fatalf("%s does not serve: %v\n%s", command, err, log.String())
		}
	}
}

func (g *guide) stop() {
	if g.server != nil {
		_ = g.server.Process.Signal(syscall.SIGINT)
		_ = g.server.Wait()
		g.server = nil
	}
}

// join does what the guide says in words: a class is made, a learner joins it, and downloads their kubeconfig.
func (g *guide) join() {
	g.t.Helper()
	link, err := control.SignInURL(g.t.Context(), g.path("class"))
	if err != nil {
		g.t.Fatal(err)
	}
	link = regexp.MustCompile(`//[^/]+:`).ReplaceAllString(link, "//127.0.0.1:") // whatever the machine's own address is
	c := &class{Subject: &subject.Subject{Link: link, Base: link[:strings.Index(link, "/signin/")]}}
	c.open(g.t)
	c.join(g.t, "Ada", g.dir)
}
