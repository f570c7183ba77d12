package posix

import (
	"regexp"
	"strings"
	"testing"

	"github.com/apilab/apilab/shell/tools"
)

// serving begins to serve a script that answers as body says.
func serving(body string) string {
	return "webhook cert > /dev/null; cat > answer.sh <<'EOF'\n" + body + "\nEOF\nwebhook -- sh ./answer.sh > log 2>&1 &\nwhile ! grep -q serving log 2>/dev/null; do sleep 0.01; done\n"
}

const allow = `jq '{apiVersion, kind, response: {uid: .request.uid, allowed: true}}'`

func TestWebhook(t *testing.T) {
	t.Parallel()
	const review = `curl -s --cacert ca.crt https://localhost:8443/admit -d '{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u1", "operation": "CREATE", "namespace": "dock", "name": "blue", "resource": {"group": "lab.example.com", "version": "v1", "resource": "crates"}}}'`
	const convert = `curl -s --cacert ca.crt https://localhost:8443/ -d '{"kind": "ConversionReview", "request": {"uid": "u2", "desiredAPIVersion": "lab.example.com/v2", "objects": [{}, {}]}}'`
	for name, c := range map[string]struct{ answer, script, want, log string }{
		"allowed": {allow, review + " | jq -c .response", `{"allowed":true,"uid":"u1"}`, "POST /admit CREATE crates.lab.example.com dock/blue → allowed"},
		"denied": {`jq '{kind, response: {uid: .request.uid, allowed: false, status: {message: "full"}}}'`, review + " | jq -c .response.status",
			`{"message":"full"}`, "dock/blue → denied: full"},
		"patched":         {`jq '{kind, response: {uid: .request.uid, allowed: true, patch: "W10="}}'`, review + " > /dev/null", "", "→ allowed, with a patch"},
		"warned":          {`jq '{kind, response: {uid: .request.uid, allowed: true, warnings: ["old"]}}'`, review + " > /dev/null", "", "→ allowed, with 1 warning"},
		"allowed missing": {`jq '{kind, response: {uid: .request.uid}}'`, review + " > /dev/null", "", "→ denied: response.allowed is missing"},
		"another uid":     {`echo '{"response": {"allowed": true}}'`, review + " > /dev/null", "", `response.uid is "" and has to be the request's, "u1": it will not be accepted`},
		"no response":     {`cat`, review + " > /dev/null", "", "the answer has no response, so it will not be accepted"},
		"conversion": {`jq '{kind, response: {uid: .request.uid, result: {status: "Success"}, convertedObjects: .request.objects}}'`, convert + " | jq '.response.convertedObjects | length'",
			"2", "POST / convert 2 objects to lab.example.com/v2 → 2 objects"},
		"failed conversion": {`jq '{kind, response: {uid: .request.uid, result: {status: "Failed", message: "no idea"}}}'`, convert + " >/dev/null", "", `result.status is "Failed" and not "Success": no idea`},
		"prints nothing":    {"true", review, "sh ./answer.sh printed nothing: its standard output has to be the answer", "→ 500 sh ./answer.sh printed nothing"},
		"prints no JSON":    {"echo thinking; " + allow, review, `sh ./answer.sh did not print one JSON object, but "thinking\n{`, "→ 500 sh ./answer.sh did not print"},
		"fails":             {"exit 3", review, "sh ./answer.sh failed with exit status 3", "→ 500 sh ./answer.sh failed with exit status 3"},
		"its own messages":  {"echo thinking >&2; " + allow, review + " > /dev/null", "", "thinking\n"},
		"path":              {`jq --arg p "$WEBHOOK_PATH" '{path: $p}'`, review, "{\n  \"path\": \"/admit\"\n}", "POST /admit CREATE"},
		"several at once": {"sleep 0.1; " + allow, "for i in 1 2 3 4; do " + review + " | jq -c .response & done; wait %2 %3 %4 %5; grep -c allowed log",
			strings.Repeat("{\"allowed\":true,\"uid\":\"u1\"}\n", 4) + "4", "allowed"},
		"too late":         {"sleep 30", "curl -s -m 0.1 " + strings.TrimPrefix(review, "curl -s ") + "; echo $?; while ! grep -q nobody log; do sleep 0.01; done", "28", "→ nobody waits for the answer any more"},
		"GET":              {allow, "curl -s --cacert ca.crt https://localhost:8443/", "this is a webhook: it answers a POST with a JSON object as its body", "GET / → 405"},
		"not trusted":      {allow, "curl -s https://localhost:8443/ -d x; echo $?; while ! grep -q trust log; do sleep 0.01; done", "60", "a client did not trust this server's certificate"},
		"HTTP":             {allow, "curl -s localhost:8443; echo; while ! grep -q spoke log; do sleep 0.01; done", "Client sent an HTTP request to an HTTPS server.", "a client spoke HTTP"},
		"its end is a job": {allow, "kill %1; wait %1; curl -s https://localhost:8443; echo $?; webhook -- sh ./answer.sh > second & sleep 0.1; cat second; kill %2", "7\nserving https://localhost:8443 with: sh ./answer.sh", "serving"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newShell(t, Limits{Jobs: 20})
			f.run(t, serving(c.answer)+c.script+"\necho ---; sleep 0.05; cat log; kill %1")
			got, log, _ := strings.Cut(f.out.String(), "---\n")
			if got = strings.TrimSpace(got); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
			if !strings.Contains(log, c.log) {
				t.Errorf("the log is %q\nwant %q in it", log, c.log)
			}
			f.Close()
		})
	}
}

// What cannot be served is told before anything is.
func TestWebhookMistakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"no command":      {"webhook", "webhook: needs a command that answers"},
		"no script":       {"webhook -- sh ./admit.sh", "webhook: ./admit.sh: no such script in /home/learner. Write it first"},
		"no script file":  {"webhook -- ./admit.sh", "webhook: ./admit.sh: no such script"},
		"a folder":        {"mkdir d; webhook -- sh d", "webhook: d is a folder"},
		"no certificate":  {"webhook -- cat", "webhook: tls.crt: no such file. `webhook cert` makes a certificate for localhost"},
		"no key":          {"webhook cert >/dev/null; rm tls.key; webhook -- cat", "webhook: tls.key: no such file"},
		"another's key":   {"mkdir d; webhook cert >/dev/null; webhook cert --dir d >/dev/null; webhook --key d/tls.key -- cat", "webhook: tls.crt and d/tls.key cannot be used: private key does not match"},
		"taken":           {"webhook cert >/dev/null; webhook -- cat >/dev/null & sleep 0.1; webhook -- cat; kill %1", "webhook: port 8443 is taken"},
		"no port":         {"webhook --port 70000 -- cat", "webhook: 70000 is not a port"},
		"no host":         {"webhook cert --host https://localhost:8443", `webhook: "https://localhost:8443" is not a host`},
		"host as operand": {"webhook cert localhost", `webhook: unexpected "localhost": hosts are given with --host`},
		"days":            {"webhook cert --days 0", "webhook: --days is from 1 to 3650"},
		"help":            {"webhook --help", "usage: webhook"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newShell(t, Limits{Jobs: 20})
			f.run(t, c.script)
			f.Close()
			if got := f.out.String(); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s\n got %q\nwant %q", c.script, got, c.want)
			}
		})
	}
}

func TestWebhookCert(t *testing.T) {
	t.Parallel()
	f := newShell(t, Limits{})
	defer f.Close()
	for _, c := range []struct{ script, want string }{
		{"webhook cert && cp tls.crt first && ls -l tls.key | cut -c1-10", "^tls.crt, tls.key: a certificate for localhost and its key, valid for 90 days\nca.crt: .*\n-rw-------\n$"},
		{"webhook cert && cmp tls.crt first && echo same", "^tls.crt is for localhost and valid until 20..-..-..: kept .*\nsame\n$"},
		{"webhook cert --force && diff -q tls.crt first", "^tls.crt, tls.key: .*\n.*\n.*differ"},
		{"cp tls.crt first; webhook cert --host localhost --host 127.0.0.1 && diff -q tls.crt first", "^tls.crt, tls.key: a certificate for localhost, 127.0.0.1 .*\n.*\n.*differ"},
		{"webhook cert --host 127.0.0.1,localhost", "kept"},
		{"webhook cert --host localhost", "^tls.crt, tls.key"},
		{"webhook cert --days 1 --force; webhook cert", "valid for 1 day\n(.*\n)*tls.crt, tls.key"},
		{"webhook cert --host example.com >/dev/null; webhook -- cat >/dev/null & sleep 0.1; curl -s --cacert ca.crt https://localhost:8443/; echo $?; kill %1", "60\n$"},
		{"webhook cert --dir /etc", "Permission denied|No such file"},
	} {
		f.out.b.Reset()
		f.run(t, c.script)
		if got := f.out.String(); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s\n got %q\nwant %q", c.script, got, c.want)
		}
	}
	if _, ok := tools.Lookup("webhook"); !ok {
		t.Error("help does not list it")
	}
}
