package shell

import (
	"strings"
	"testing"
)

// A webhook in one terminal answers what is asked in another, and ends with Ctrl-C.
func TestWebhookInATerminal(t *testing.T) {
	t.Parallel()
	o, _ := withCluster(t)
	one, two := open(t, o), open(t, o)
	one.send("webhook cert; webhook -- cat\r")
	one.expect("serving https://localhost:8443 with: cat")
	if got := two.run("curl -s --cacert ca.crt https://localhost:8443/admit -d '{}'"); !strings.HasPrefix(got, "{}") {
		t.Errorf("got %q", got)
	}
	one.expect("POST /admit → answered")
	if got := two.run("webhook -- cat"); !strings.Contains(got, "port 8443 is taken") {
		t.Errorf("got %q", got)
	}
	one.send("\x03")
	one.expect("$ ")
	if got := one.run("echo $?; webhook -- cat > log & sleep 0.2; cat log; kill %1"); !strings.Contains(got, "130") || !strings.Contains(got, "serving") {
		t.Errorf("got %q", got)
	}
}
