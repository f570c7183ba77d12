package shell

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestHostShell(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	t.Setenv("ENV", "")
	t.Setenv("PS1", "host$ ")
	o, server := withCluster(t)
	o.Host = true
	c := open(t, o)
	c.send("echo conf $KUBECONFIG; ls /etc/passwd\r")
	out := c.expect("config\n/etc/passwd\n")
	if !strings.Contains(out, "conf "+kubeconfigPath(c.runtime.home)) {
		t.Errorf("got %q", out)
	}
	if b, err := os.ReadFile(kubeconfigPath(o.Home)); err != nil || !strings.Contains(string(b), server.addr()) {
		t.Errorf("kubeconfig %s, %v", b, err)
	}
	c.idle()
	c.send("sleep 100\r")
	c.expect("sleep 100")
	for !c.Busy() { // no mark in the output tells of a host's shell
		<-time.After(time.Millisecond)
	}
	c.send("\x03")
	c.idle()
	c.send("exit\r")
	<-c.Done()
}
