package shell

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apilab/apilab/shell/localhost"
)

// secret stands in a file outside of the home. No attempt may show it.
const secret = "s3cr3t-of-the-host"

// escapes are attempts to reach what is not the learner's. OUT is a folder outside of the home with the files secret,
// kustomization.yaml and admin.conf, PORT a port of the host on which a secret is served, OTHER another learner's ports.
// Each is refused with a message that contains says, on both layers.
var escapes = []struct{ name, script, says string }{
	{"cat of a host file", "cat /etc/passwd", "No such file"},
	{"cat by the real path", "cat OUT/secret", "No such file"},
	{"redirection", "cat < OUT/secret", "no such file"},
	{"command substitution", "echo $(< OUT/secret)", "no such file"},
	{"dot dot", "cat ../../../../../../../../OUT/secret; cat ../home/../../x/secret", "No such file"},
	{"writing outside", "echo x > OUT/new; echo x > /etc/new; tee OUT/new < /dev/null", "no such file"},
	{"cp out", "touch f; cp f OUT/f; cp OUT/secret .; mv f OUT/f", "No such file"},
	{"a symlink out", "ln -s OUT/secret l; cat l", "may only lead"},
	{"a relative symlink out", "ln -s ../../../../../../../OUT/secret l; cat l", "may only lead"},
	{"a symlink that leads out once moved", "mkdir -p a/b; ln -s ../../x a/b/l; mv a/b/l .; mv a/b b; cat l b/l", "ermission denied"},
	{"a hard link", "ln OUT/secret l; cat l", "No such file"},
	{"a symlink that was put there", "cat planted; head -1 planted; grep . planted; jq -R . planted; source planted", "No such file"},
	{"kubectl with a planted symlink", "kubectl apply -f planted", "does not exist"},
	{"kubectl with a folder of planted symlinks", "mkdir d; mv planted d/x.yaml; kubectl apply -f d", "Permission denied"},
	{"kubectl with a folder with a planted symlink", "kubectl apply -f folder", "does not exist"},
	{"proc", "cat /proc/self/environ /proc/self/maps /proc/1/cmdline; ls /proc; cat /proc/self/root/etc/passwd", "No such file"},
	{"descriptors", "cat /dev/fd/3 /proc/self/fd/3", "No such file"},
	{"devices", "cat /dev/sda; ls /dev", "No such file"},
	{"listing", "ls / /etc /home; find / -name secret; tree OUT", "No such file"},
	{"glob", "echo OUT/*; echo /etc/pass*", "/etc/pass*"},
	{"cd", "cd OUT; cd /etc; pwd", "no such file or directory"},
	{"test", "[ -e /etc/passwd ] && echo exists; [ -e OUT/secret ] && echo exists; echo tested", "tested"},
	{"running a host program", "/bin/ls -la /etc/passwd; /usr/bin/python3 -c 1; OUT/program", "No such file"},
	{"exec of a host program", "exec /usr/bin/id OUT; exec OUT/program", "learner"},
	{"PATH", "PATH=/usr/sbin:OUT:$PATH; program; getent passwd", "command not found"},
	{"a copied program", "cp OUT/program p; printf '\\177ELF\\0' > q; chmod +x q; ./q", "cannot run"},
	{"a script for another interpreter", "printf '#!/usr/bin/python3\\n' > q; chmod +x q; ./q", "no interpreter"},
	{"source", "source OUT/secret; . /etc/passwd; eval \"$(cat OUT/secret)\"", "no such file"},
	{"type with PATH", "PATH=/usr/sbin:/usr/bin; type -p python3 useradd; command -v useradd; hash useradd; echo done", "done"},
	{"builtin", "builtin type -p useradd; builtin source OUT/secret; command source OUT/secret", "no such file"},
	{"TMPDIR", "TMPDIR=OUT; export TMPDIR; mktemp; cat <(echo ok); kubectl version --client", "ok"},
	{"HOME", "export HOME=OUT; kubectl get ns; cd; pwd", "no such file or directory"},
	{"awk reads", "awk 'BEGIN{while((getline l < \"OUT/secret\")>0) print l}'; awk 1 OUT/secret", "No such file"},
	{"awk writes and runs", "awk 'BEGIN{print \"x\" > \"OUT/new\"}'; awk 'BEGIN{system(\"cat OUT/secret\")}'; awk 'BEGIN{\"cat OUT/secret\"|getline x; print x}'", "neither run commands nor open files"},
	{"sed", "sed -n p OUT/secret; sed -f OUT/secret; sed 'r OUT/secret' </dev/null; echo | sed 'w OUT/new'", "No such file"},
	{"jq", "jq -n --rawfile x OUT/secret '$x'; jq -n --slurpfile x OUT/secret '$x'; jq -f OUT/secret; jq -n 'import \"OUT/secret\" as $x; $x'; jq -n 'input_filename, $__loc__'; jq . OUT/secret", "No such file"},
	{"yq", "yq -n 'load(\"OUT/secret\")'; yq -n 'load_str(\"OUT/secret\")'; yq . OUT/secret; yq -n 'system(\"cat\"; \"OUT/secret\")'", "not available"},
	{"grep", "grep -r . OUT; grep -f OUT/secret x; grep . /etc/passwd", "No such file"},
	{"xargs and find", "echo OUT/secret | xargs cat; find OUT -exec cat {} \\;", "No such file"},
	{"curl of a file", "curl file://OUT/secret; curl file:///etc/passwd", "rejected"},
	{"curl of a protocol", "curl gopher://localhost:PORT/; curl ftp://localhost/", "not supported"},
	{"curl of the host's port", "curl -s -m 3 http://localhost:PORT/; curl -sS -m 3 127.0.0.1:PORT; curl -m 3 http://[::1]:PORT; curl -m 3 0.0.0.0:PORT; curl -m 3 127.1.2.3:PORT", "Connection refused"},
	{"curl of other hosts", "curl -m 3 http://example.com; curl -m 3 http://169.254.169.254/latest; curl -m 3 http://10.0.0.1", "Could not resolve host"},
	{"curl by socket, proxy and config", "curl --unix-socket OTHER/7000.sock http://x/; curl -x http://localhost:PORT http://x/; curl -K OUT/secret", "not available"},
	{"curl reads", "curl -d @OUT/secret localhost:1; curl -T OUT/secret localhost:1; curl -H @OUT/secret localhost:1; curl --cacert OUT/secret https://localhost:1; curl -o OUT/new localhost:1", "No such file"},
	{"curl with another Host", "curl -s -m 3 -H 'Host: example.com' http://localhost:PORT/ || echo refused", "refused"},
	{"another learner's port", "curl -sS -m 3 localhost:7000; ln -s OTHER/7000.sock s", "Connection refused"},
	{"apply -f", "kubectl apply -f OUT/secret; kubectl create -f /etc/passwd", "does not exist"},
	{"apply -f with a pattern", "kubectl apply -f 'OUT/*'; kubectl apply -f '/etc/pass*'; kubectl apply -f '*/../../../OUT/s*'", "does not exist"},
	{"apply -f of a URL", "kubectl apply -f http://localhost:PORT/x.yaml; kubectl apply -f https://example.com/x.yaml", "refused"},
	{"apply -f of a folder named as a scheme", "mkdir http: https:; kubectl create cm x --from-file=http:/../REL/secret --dry-run=client -o yaml; kubectl apply -f http:/../REL/secret; kubectl create -f https:/../REL/new.yaml --dry-run=client -o yaml --validate=false", "does not exist"},
	{"a symlink through another", "mkdir a; ln -s .. a/up; ln -s . same; ln -s a/up/REL/secret l1; ln -s REL/secret same/l2; cat l1 l2; kubectl create cm x --from-file=l1 --from-file=l2 -o yaml --dry-run=client", "may only lead to a place in"},
	{"a kubeconfig through a symlink", "rm -r .kube; mkdir .kube a; ln -s .. a/up; ln -s ../a/up/REL/admin.conf .kube/config; ln -s ../REL/admin.conf a/up/.kube/config; kubectl config view --raw", "may only lead to a place in"},
	{"a hard link of a symlink", "mkdir -p a/b; ln -s ../../x a/b/l; ln a/b/l hard; mv a/b/l .; mv a/b b; ls", "not permitted"},
	{"users of the host", "echo ~root ~daemon ~nobody", "~root ~daemon ~nobody"},
	{"apply -k", "kubectl apply -k OUT; kubectl kustomize OUT", "no such file"},
	{"kustomize: a base outside", "mkdir k; printf 'resources: [../../../../../../../../..OUT]\\n' > k/kustomization.yaml; kubectl kustomize k; kubectl apply -k k", "no such file"},
	{"kustomize: a file outside", "mkdir k; printf 'configMapGenerator: [{name: x, files: [OUT/secret]}]\\n' > k/kustomization.yaml; kubectl kustomize k; kubectl kustomize k --load-restrictor LoadRestrictionsNone", "no such file"},
	{"kustomize: a remote base", "mkdir k; printf 'resources: [\"https://github.com/kubernetes-sigs/kustomize//examples/helloWorld\"]\\n' > k/kustomization.yaml; kubectl kustomize k; kubectl apply -k k", "no such host"},
	{"kustomize: a URL on the host", "mkdir k; printf 'resources: [\"http://localhost:PORT/x.yaml\"]\\n' > k/kustomization.yaml; kubectl kustomize k", "refused"},
	{"kustomize: helm and plugins", "mkdir k; touch k/kustomization.yaml; kubectl kustomize k --enable-helm --helm-command OUT/program; kubectl kustomize k --enable-alpha-plugins --enable-exec; kubectl kustomize k --mount type=bind,source=/,target=/x", "not available"},
	{"kustomize: output", "mkdir k; printf 'namePrefix: x\\nresources: [c.yaml]\\n' > k/kustomization.yaml; kubectl create cm c --dry-run=client -o yaml > k/c.yaml; kubectl kustomize k -o OUT/new", "no such file"},
	{"kubeconfig", "kubectl --kubeconfig OUT/admin.conf get ns; KUBECONFIG=OUT/admin.conf kubectl get ns; kubectl config view --raw --kubeconfig=OUT/admin.conf; KUBECONFIG=x:OUT/admin.conf kubectl config view --raw", "does not exist"},
	{"a kubeconfig that runs a program", "kubectl config set-credentials e --exec-command=OUT/program --exec-api-version=client.authentication.k8s.io/v1 --exec-interactive-mode=Never; kubectl --user e get ns", "no programs can be run"},
	{"a kubeconfig with an auth provider", "kubectl config set-credentials e --auth-provider=gcp; kubectl --user e get ns", "auth provider"},
	{"a kubeconfig with a token file", "kubectl config set users.e.tokenFile OUT/secret; kubectl --user e get ns; kubectl --user e get ns -v=9", "does not exist"},
	{"a kubeconfig with files", "kubectl config set clusters.apilab.certificate-authority OUT/secret; kubectl config view --flatten --raw", "does not exist"},
	{"a kubeconfig with a relative file", "kubectl config set clusters.apilab.certificate-authority ../../../../../../../../../OUT/secret; kubectl config view --flatten --raw", "does not exist"},
	{"embedded certificates", "kubectl config set-cluster c --certificate-authority=OUT/secret --embed-certs; kubectl config set-credentials c --client-key=OUT/secret --embed-certs; kubectl config view --raw", "does not exist"},
	{"another server", "kubectl --server https://127.0.0.1:PORT get ns; kubectl --server http://example.com get ns; kubectl config set clusters.apilab.server https://10.0.0.1:6443; kubectl get ns", "only your own API server"},
	{"the host's port as a server", "kubectl --server http://localhost:PORT get ns; kubectl --server http://127.0.0.1:PORT get --raw /", "refused"},
	{"upgrades to the host's port", "kubectl --server http://localhost:PORT exec p -- id; kubectl --server http://localhost:PORT port-forward p 80; kubectl --server http://localhost:PORT attach p; kubectl --server http://localhost:PORT cp f p:/", "does not work through"},
	{"a proxy", "kubectl --proxy-url http://localhost:PORT get ns; kubectl config set clusters.apilab.proxy-url http://localhost:PORT; kubectl get ns; HTTPS_PROXY=http://localhost:PORT kubectl get ns", "proxies are not available"},
	{"templates", "kubectl get ns -o go-template-file=OUT/secret; kubectl get ns -o go-template-file --template=OUT/secret; kubectl get ns -o jsonpath-file=OUT/secret; kubectl get ns -o custom-columns-file=OUT/secret; kubectl get ns -o templatefile=OUT/secret", "does not exist"},
	{"from-file", "kubectl create cm x --from-file=OUT/secret -o yaml --dry-run=client; kubectl create cm x --from-file=k=OUT/secret -o yaml --dry-run=client; kubectl create secret generic x --from-file=OUT -o yaml --dry-run=client", "no such file"},
	{"from-env-file", "kubectl create cm x --from-env-file=OUT/secret -o yaml --dry-run=client; kubectl create secret generic x --from-env-file=OUT/secret -o yaml --dry-run=client", "does not exist"},
	{"tls and docker files", "kubectl create secret tls x --cert=OUT/secret --key=OUT/secret -o yaml --dry-run=client; kubectl create secret docker-registry x --from-file=OUT/secret -o yaml --dry-run=client", "no such file"},
	{"patch-file and replace", "kubectl patch cm there --patch-file OUT/secret; kubectl replace -f OUT/secret; kubectl delete -f OUT/secret; kubectl diff -f OUT/secret", "does not exist"},
	{"profile-output and cache-dir", "kubectl get ns --profile=cpu --profile-output=OUT/new; kubectl get ns --cache-dir=OUT/new", "does not exist"},
	{"dump", "kubectl cluster-info dump --output-directory=OUT/new", "does not exist"},
	{"cp", "kubectl cp OUT/secret default/p:/tmp/x; kubectl cp default/p:/tmp/x OUT/new", "does not exist"},
	{"proxy serves files", "kubectl proxy --www=OUT --port=7001; kubectl proxy --www=/ --port=7001", "does not exist"},
	{"proxy on a socket", "kubectl proxy --unix-socket=OTHER/7002.sock; kubectl proxy -u OUT/new", "not available"},
	{"preferences", "kubectl get ns --kuberc OUT/secret; KUBERC=OUT/secret kubectl get ns", "does not exist"},
	{"preferences with a default", "mkdir -p .kube; printf 'apiVersion: kubectl.config.k8s.io/v1beta1\\nkind: Preference\\ndefaults: [{command: apply, options: [{name: filename, default: OUT/secret}]}]\\n' > .kube/kuberc; kubectl apply", "does not exist"},
	{"preferences with an alias", "mkdir -p .kube; printf 'apiVersion: kubectl.config.k8s.io/v1beta1\\nkind: Preference\\naliases: [{name: pwn, command: create, prependArgs: [\"-f\", OUT/secret]}]\\n' > .kube/kuberc; kubectl pwn", "does not exist"},
	{"plugins", "printf '#!/bin/sh\\ncat OUT/secret\\n' > kubectl-x; chmod +x kubectl-x; PATH=$PWD:$PATH; export PATH; kubectl x; kubectl plugin list", "unknown command"},
	{"the editor", "KUBE_EDITOR='cat OUT/secret' kubectl edit cm there; EDITOR=OUT/program kubectl edit cm there; export KUBE_EDITOR='sh -c \"cat OUT/secret\"'; kubectl edit cm there", "there is no editor here"},
	{"the diff program", "printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: there}\\n' > c.yaml; KUBECTL_EXTERNAL_DIFF='cat OUT/secret' kubectl diff -f c.yaml; echo tried", "tried"},
	{"completion", "kubectl __complete --kubeconfig OUT/admin.conf get ns ''; kubectl __complete get -f OUT/secret ''; kubectl __complete --kubeconfig OUT/admin.conf get --context ''; kubectl -n x __completeNoDesc --kubeconfig OUT/admin.conf get --context ''; kubectl --kubeconfig OUT/admin.conf __complete config use-context ''; echo done", "done"},
	{"completion with a program", "kubectl config set-credentials e --exec-command=OUT/program --exec-api-version=client.authentication.k8s.io/v1 --exec-interactive-mode=Never >/dev/null; kubectl __complete --user e get ns ''; echo done", "done"},
	{"our own variables", "export APILAB_CONFINE= APILAB_CONTROL=x APILAB_KUBECTL_WORKER=1; kubectl apply -f OUT/secret; unset APILAB_CONFINE; kubectl apply -f OUT/secret", "does not exist"},
	{"in-cluster configuration", "export KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT=PORT; KUBECONFIG=none kubectl get ns", "refused"},
	{"bash", "bash OUT/secret; bash -c 'cat OUT/secret'; sh -c '. OUT/secret'; echo 'cat OUT/secret' | bash; bash --rcfile OUT/secret", "No such file"},
	{"the environment of the server", "env; printenv HOST_SECRET; awk 'BEGIN{print ENVIRON[\"HOST_SECRET\"]}'; jq -n 'env.HOST_SECRET'; yq -n 'env(HOST_SECRET)'; kubectl create cm x --from-env-file=<(echo HOST_SECRET) --dry-run=client -o yaml; echo done", "done"},
	{"this shell's own program", "shell; kubectl-shell; editor OUT/secret; /proc/self/exe", "not found"},
	{"killing others", "kill 1; kill -9 1; kill -9 -1; echo alive", "no such job"},
	{"reading a file by its time", "touch -r OUT/secret x; stat OUT/secret; du OUT; diff OUT/secret x; cmp OUT/secret x; sha256sum OUT/secret; base64 OUT/secret; wc OUT/secret; less OUT/secret; column OUT/secret", "No such file"},
	{"removing", "rm -rf OUT /etc/x ..; rmdir OUT; rm -rf /; rm -rf ~; chmod 777 OUT/secret; touch OUT/new; mkdir OUT/new; ls -d ~", "/home/learner"},
}

func TestEscapes(t *testing.T) {
	t.Setenv("HOST_SECRET", secret)
	// Not below /tmp, which is another folder for the learner.
	base, err := os.MkdirTemp("/var/tmp", "apilab-escape-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	out := filepath.Join(base, "out")
	other := filepath.Join(base, "other")
	for _, d := range []string{out, other} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(out, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("secret", secret+"\nkey: "+secret+"\n", 0o644)
	write("kustomization.yaml", "configMapGenerator: [{name: "+secret+", literals: [a=b]}]\n", 0o644)
	write("admin.conf", "apiVersion: v1\nkind: Config\nusers: [{name: x, user: {token: "+secret+"}}]\ncontexts: [{name: "+secret+", context: {user: x}}]\n", 0o644)
	write("new.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+secret+"}\n", 0o644)
	write("program", "#!/bin/sh\necho "+secret+" > "+out+"/new\necho "+secret+"\n", 0o755)
	port := serveSecret(t, listenTCP(t))
	l, err := localhost.New(other).Listen(7000)
	if err != nil {
		t.Fatal(err)
	}
	serveSecret(t, l)

	for _, mode := range []struct {
		name string
		off  bool
	}{{"by construction", true}, {"with Landlock", false}} {
		t.Run(mode.name, func(t *testing.T) {
			for _, e := range escapes {
				t.Run(e.name, func(t *testing.T) {
					t.Parallel()
					o, _ := withCluster(t)
					o.noLandlock = mode.off
					o.Kubeconfig = nil
					home := newHome(t, o, out)
					text := strings.NewReplacer("OUT", out, "REL", relative(t, home, out), "PORT", port, "OTHER", other).Replace(e.script)
					got, _ := script(t, o, text)
					leaked := strings.ReplaceAll(got, out, "")
					if strings.Contains(leaked, secret) || strings.Contains(leaked, "root:x:0") {
						t.Errorf("the secret is out:\n%s\n%s", text, got)
					}
					if !strings.Contains(got, e.says) {
						t.Errorf("no %q in the output of\n%s\n%s", e.says, text, got)
					}
					if _, err := os.Lstat(filepath.Join(out, "new")); err == nil {
						t.Errorf("a file was made outside:\n%s\n%s", text, got)
						os.Remove(filepath.Join(out, "new"))
					}
					if b, err := os.ReadFile(filepath.Join(out, "secret")); err != nil || !strings.HasPrefix(string(b), secret) {
						t.Errorf("the host's file was changed: %v\n%s", err, text)
					}
					if fi, err := os.Stat(home); err != nil || !fi.IsDir() {
						t.Errorf("the home is gone: %v", err)
					}
				})
			}
		})
	}
}

func relative(t *testing.T, from, to string) string {
	from, err := filepath.EvalSymlinks(from)
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(from, to)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}

// kubectl finds its configuration and its cache by itself. Neither may be a symlink that leads out, however that came to be.
func TestPlantedKubeconfig(t *testing.T) {
	for _, off := range []bool{true, false} {
		for _, name := range []string{"config", "cache"} {
			t.Run(fmt.Sprintf("%s, Landlock %t", name, !off), func(t *testing.T) {
				t.Parallel()
				o, _ := withCluster(t)
				o.noLandlock, o.Kubeconfig = off, nil
				out := filepath.Join(t.TempDir(), "out")
				if err := os.Mkdir(out, 0o700); err != nil {
					t.Fatal(err)
				}
				text := "apiVersion: v1\nkind: Config\nusers: [{name: x, user: {token: " + secret + "}}]\n"
				if err := os.WriteFile(filepath.Join(out, "config"), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				link := filepath.Join(newHome(t, o, out), ".kube", name)
				os.Remove(link)
				target := out
				if name == "config" {
					target = filepath.Join(out, "config")
				}
				if err := os.Symlink(target, link); err != nil {
					t.Fatal(err)
				}
				got, _ := script(t, o, "kubectl config view --raw; kubectl get ns; kubectl config set-cluster new --server=https://x")
				if strings.Contains(got, secret) || !strings.Contains(got, "/.kube/"+name+"\" does not exist") {
					t.Errorf("got %s", got)
				}
				if entries, err := os.ReadDir(out); err != nil || len(entries) != 1 {
					t.Errorf("outside there is %v, %v", entries, err)
				}
				if b, err := os.ReadFile(filepath.Join(out, "config")); err != nil || string(b) != text {
					t.Errorf("outside was written: %s, %v", b, err)
				}
			})
		}
	}
}

// newHome is a home with a kubeconfig and with symlinks that lead out, which no tool of the shell would make.
func newHome(t *testing.T, o Options, out string) string {
	t.Helper()
	for _, d := range []string{o.Home, filepath.Join(o.Home, "folder")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: apilab, cluster: {server: 'https://%s', insecure-skip-tls-verify: true}}]\n"+
		"users: [{name: learner, user: {token: learner-token}}]\ncontexts: [{name: apilab, context: {cluster: apilab, user: learner}}]\ncurrent-context: apilab\n", o.GatewayAddr)
	if err := os.MkdirAll(filepath.Join(o.Home, ".kube"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kubeconfigPath(o.Home), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, l := range []string{"planted", "folder/x.yaml"} {
		if err := os.Symlink(filepath.Join(out, "secret"), filepath.Join(o.Home, l)); err != nil {
			t.Fatal(err)
		}
	}
	return o.Home
}

func listenTCP(t *testing.T) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// serveSecret answers anything with the secret.
func serveSecret(t *testing.T, l net.Listener) (port string) {
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				c.SetDeadline(time.Now().Add(time.Second))
				c.Read(make([]byte, 4096))
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(secret), secret)
			}()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}
