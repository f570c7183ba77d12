package abuse

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// hogs are learners who take all they can get. Each is told so in words, and has a way back. Those without end run only
// where the kernel holds them, as they would take the machine with them where it does not.
var hogs = []struct {
	name string
	run  func(*testing.T, *hog)
}{
	{"deletes kube-system", deleteSystem},
	{"fills etcd", fillStore},
	{"registers 500 CRDs", registerMany},
	{"opens 2000 watches", openWatches},
	{"prints 1 GB", printMuch},
	{"forks without end", held(forkBomb)},
	{"runs kubectl without end", held(kubectlBomb)},
	{"calculates without end", held(spin)},
	{"takes memory without end", held(swell)},
	{"fills the disk", fillHome},
	{"fills the disk by kubectl", fillHomeByKubectl},
	{"sends 1000 messages a second", sendMessages},
	{"opens 1000 terminals and pages", openTerminals},
	{"resets again and again", resetAgain},
}

// A hog is one of them, with a page and a terminal.
type hog struct {
	*visitor
	server   *server
	page     *page
	terminal *terminal
	api      *api
}

func TestNeighboursDoNotNotice(t *testing.T) {
	slowly(t)
	s := class(t)
	n := s.neighbour(t, s.joins(t, "Neighbour"))
	v := s.joins(t, "Hog")
	p := v.page(t)
	p.ready()
	for _, h := range hogs {
		t.Run(h.name, func(t *testing.T) {
			v.t, p.t = t, t
			before := s.memory()
			var most atomic.Int64
			watching, stop := context.WithCancel(t.Context())
			var watched sync.WaitGroup
			watched.Go(func() {
				for watching.Err() == nil {
					most.Store(max(most.Load(), s.memory()))
					time.Sleep(200 * time.Millisecond)
				}
			})
			p.ready()
			n.begin(t)
			it := &hog{v, s, p, p.terminal(), p.api(t)}
			h.run(t, it)
			it.recover(t)
			n.end(t)
			stop()
			watched.Wait()
			if grew := most.Load() - before; grew > tooMuch {
				t.Errorf("the server's memory grew by %d MiB", grew>>20)
			} else {
				t.Logf("the server's memory grew by %d MiB at most", grew>>20)
			}
		})
	}
}

// held runs a hog whose shell is in groups with limits; elsewhere it says why it does not.
func held(run func(*testing.T, *hog)) func(*testing.T, *hog) {
	return func(t *testing.T, h *hog) {
		if says := regexp.MustCompile(`limits +(.*)`).FindStringSubmatch(h.server.run("doctor")); says == nil || !strings.Contains(says[1], "cpu, memory, pids of each") {
			t.Skipf("it would hit this machine, whose learners have no groups that limit them: doctor says %q", says)
		}
		shells := h.server.children("shell")
		if len(shells) < 2 {
			t.Fatalf("there are %d shells, want the hog's and the neighbour's", len(shells))
		}
		for _, pid := range shells {
			groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
			if err != nil {
				t.Fatal(err)
			}
			path := regexp.MustCompile(`(?m)^(?:\d+:(?:.*,)?pids(?:,.*)?|0:):(/.*/shells-l-\w+)$`).FindSubmatch(groups)
			if path == nil {
				t.Fatalf("doctor says that a shell has its limits, and this one has none: %s", groups)
			}
			limit := ""
			for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/pids"} {
				text, _ := os.ReadFile(filepath.Join(mount, string(path[1]), "pids.max"))
				limit += strings.TrimSpace(string(text))
			}
			if n, err := strconv.Atoi(limit); err != nil || n > 1000 {
				t.Fatalf("the limit of tasks of %s is %q", path[1], limit)
			}
		}
		run(t, h)
	}
}

// recover takes the way back: a new terminal, and a reset that works.
func (h *hog) recover(t *testing.T) {
	t.Helper()
	h.page.get("term.close", map[string]any{"terminal": h.terminal.id}, nil)
	h.page.reset()
	term := h.page.terminal()
	if out := term.run("kubectl get namespace kube-system -o name"); !strings.Contains(out, "namespace/kube-system") {
		t.Errorf("after a reset: %s", out)
	}
	h.page.get("term.close", map[string]any{"terminal": term.id}, nil)
}

// told wants words in an output.
func told(t *testing.T, output string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(output, w) {
			return
		}
	}
	if len(output) > 3000 {
		output = output[:1500] + " … " + output[len(output)-1500:]
	}
	t.Errorf("none of %q is said in %s", words, output)
}

func deleteSystem(t *testing.T, h *hog) {
	told(t, h.terminal.run(`kubectl delete namespace kube-system default kube-public --wait=false`), "this namespace may not be deleted")
	h.terminal.run(`for kind in $(kubectl api-resources --namespaced --verbs=delete -o name | grep -v '^events'); do kubectl delete $kind --all -n kube-system --wait=false; done 2>&1 | tail -3
kubectl delete node --all --wait=false; kubectl delete crd,apiservices,priorityclasses,flowschemas,prioritylevelconfigurations --all --wait=false >/dev/null 2>&1
kubectl delete clusterroles,clusterrolebindings --all --wait=false >/dev/null 2>&1`)
	told(t, h.terminal.run("kubectl get secrets -A"), "orbidden", "No resources", "NAMESPACE")
}

func fillStore(t *testing.T, h *hog) {
	filler := strings.Repeat("x", 900<<10)
	var said string
	for i := 0; i < 1000 && !strings.Contains(said, "the cluster is full"); i++ {
		if code, text := h.api.ask(http.MethodPost, "/api/v1/namespaces/default/configmaps", fmt.Sprintf(`{"metadata":{"name":"filler-%d"},"data":{"x":%q}}`, i, filler)); code/100 != 2 {
			said = text
			h.page.ready() // it may have taken more memory than its share
		}
	}
	told(t, said, "the cluster is full")
	told(t, h.terminal.run("kubectl create configmap one-more --from-literal=x="+strings.Repeat("y", 100)), "the cluster is full", "created")
	told(t, h.terminal.run("kubectl delete configmap filler-0 filler-1 filler-2 && kubectl create configmap again"), "configmap/again created")
}

func registerMany(t *testing.T, h *hog) {
	made := 0
	for i := range 500 {
		code, text := h.api.ask(http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", fmt.Sprintf(
			`{"metadata":{"name":"hogs%d.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"hogs%[1]d","singular":"hog%[1]d","kind":"Hog%[1]d"},
			"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}}}}}}}]}}`, i))
		if code/100 == 2 {
			made++
		} else {
			told(t, text, "the cluster is full", "too many")
			break
		}
	}
	t.Logf("%d definitions were made", made)
	told(t, h.terminal.run("kubectl get crd --no-headers | wc -l; kubectl get hogs7"), "No resources", "the cluster is full")
}

func openWatches(t *testing.T, h *hog) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var open, refused atomic.Int64
	var said atomic.Value
	var all sync.WaitGroup
	for range 2000 {
		all.Go(func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.api.config.Host+"/api/v1/namespaces/default/configmaps?watch=true", nil)
			if err != nil {
				return
			}
			client := *h.api.client
			client.Timeout = 0
			response, err := client.Do(r)
			if err != nil {
				return
			}
			defer response.Body.Close()
			if response.StatusCode != http.StatusOK {
				text, _ := io.ReadAll(response.Body)
				said.Store(string(text))
				refused.Add(1)
				return
			}
			open.Add(1)
			io.Copy(io.Discard, response.Body)
		})
	}
	for deadline := time.Now().Add(patience); open.Load()+refused.Load() < 2000 && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("%d watches are open, %d were refused", open.Load(), refused.Load())
	text, _ := said.Load().(string)
	told(t, text, "are under way")
	stop()
	all.Wait()
	if code, text := h.api.ask(http.MethodGet, "/api/v1/namespaces", ""); code != http.StatusOK {
		t.Errorf("after that: %d %s", code, text)
	}
	told(t, h.terminal.runTyped("for i in $(seq 100); do kubectl get pods --watch >/dev/null & done"), "run at once", "background jobs at once")
}

func printMuch(t *testing.T, h *hog) {
	ended := h.terminal.begin("yes 0123456789012345678901234567890123456789012345678 | head -c 1000000000; echo")
	if err := h.page.within(5*patience, ended); err != nil {
		t.Errorf("1 GB: %v", err)
	}
	h.page.mu.Lock()
	defer h.page.mu.Unlock()
	if h.terminal.total < 1_000_000_000 || h.terminal.lost {
		t.Errorf("%d bytes came, some were lost: %t", h.terminal.total, h.terminal.lost)
	}
}

func forkBomb(t *testing.T, h *hog) {
	ended := h.terminal.begin(`:(){ :|:& };:`)
	h.page.until("the bomb's end", ended)
	time.Sleep(5 * time.Second)
	h.terminal.interrupt()
	out := h.terminal.run(`f() { f & f; }; f; (while :; do (while :; do :; done) & done); wait`)
	told(t, out, "too many commands at once", "background jobs at once", "calls itself too deeply")
	h.terminal.interrupt()
}

func kubectlBomb(t *testing.T, h *hog) {
	others := []*terminal{h.page.terminal(), h.page.terminal(), h.page.terminal()}
	for _, o := range others {
		o.begin("while :; do kubectl get pods -A >/dev/null 2>&1 & done")
	}
	out, _ := h.terminal.runWithin(20*time.Second, "while :; do kubectl get pods -A >/dev/null & done")
	told(t, out, "run at once", "background jobs at once", "too many commands at once")
	for _, o := range others {
		h.page.get("term.close", map[string]any{"terminal": o.id}, nil)
	}
	h.terminal.interrupt()
}

func spin(_ *testing.T, h *hog) {
	all := []*terminal{h.terminal, h.page.terminal(), h.page.terminal(), h.page.terminal(), h.page.terminal()}
	for _, o := range all {
		o.begin("for i in 1 2 3 4 5 6 7 8 9 10; do while :; do :; done & done; while :; do :; done")
	}
	time.Sleep(20 * time.Second)
	for _, o := range all[1:] {
		h.page.get("term.close", map[string]any{"terminal": o.id}, nil)
	}
	h.terminal.interrupt()
}

func swell(t *testing.T, h *hog) {
	told(t, h.terminal.outgrow(`x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done`), "of memory", "started anew")
	told(t, h.terminal.outgrow(`jq -n '[range(1e9)]' >/dev/null; awk 'BEGIN{s="x"; while(1) s = s s}'; seq 1000000000 | sort >/dev/null`), "of memory", "started anew")
	h.terminal.interrupt()
}

// homeLimit is the quota of a learner's home with what may be on its way as it is reached.
const homeLimit = 256<<20 + 64<<20

func (h *hog) homeSize(t *testing.T) (size int64) {
	t.Helper()
	for _, home := range h.server.homes() {
		var sum int64
		filepath.WalkDir(home, func(_ string, d os.DirEntry, err error) error {
			if err == nil {
				if info, err := d.Info(); err == nil {
					sum += info.Size()
				}
			}
			return nil
		})
		size = max(size, sum)
	}
	return size
}

func (s *server) homes() []string {
	found, err := filepath.Glob(filepath.Join(s.dir, "learners", "*", "home"))
	if err != nil || len(found) == 0 {
		s.t.Errorf("no homes: %v", err)
	}
	return found
}

func fillHome(t *testing.T, h *hog) {
	told(t, h.terminal.run(`head -c 1000000000 /dev/zero > big; ls -l big`), "your home may hold")
	h.terminal.run("rm big; mkdir many")
	told(t, h.terminal.runTyped(`for i in $(seq 100); do cat /dev/zero > many/$i & done`), "your home may hold", "background jobs at once")
	told(t, h.terminal.runTyped("wait; cat /dev/zero > one-more"), "your home may hold")
	if size := h.homeSize(t); size > homeLimit {
		t.Errorf("the home holds %d MiB", size>>20)
	}
	time.Sleep(1500 * time.Millisecond) // the page's count of the home is a second old at most
	told(t, h.page.ask("file.write", map[string]any{"path": "page.txt", "text": strings.Repeat("x", 1<<19)}).Error, "your home may hold")
	told(t, h.terminal.runTyped(`rm -rf many one-more; echo x > small && cat small`), "x")
}

func fillHomeByKubectl(t *testing.T, h *hog) {
	note := strings.Repeat("x", 200<<10)
	for i := range 50 {
		h.api.does(http.MethodPost, "/api/v1/namespaces/default/pods", fmt.Sprintf(`{"metadata":{"name":"hog-%d","annotations":{"note":%q}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, i, note))
	}
	out := h.terminal.run(`head -c 1000000000 /dev/zero > big 2>/dev/null
for i in $(seq 20); do kubectl cluster-info dump --namespaces default --output-directory=dump-$i >/dev/null || break; done
for i in $(seq 20); do kubectl config set-cluster c --server=https://x --kubeconfig=k-$i || break; done`)
	if size := h.homeSize(t); size > homeLimit {
		t.Errorf("the home holds %d MiB", size>>20)
	}
	told(t, out, "your home may hold")
	told(t, h.terminal.runTyped(`rm -rf big dump-*; kubectl get pods --no-headers | wc -l`), "50")
}

func sendMessages(t *testing.T, h *hog) {
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	var all sync.WaitGroup
	for range 20 {
		conn, err := h.connect("/ws")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.CloseNow()
		go func() {
			for {
				if _, _, err := conn.Read(ctx); err != nil {
					return
				}
			}
		}()
		all.Go(func() {
			message := `{"type":"file.write","id":1,"path":"flood.txt","text":"` + strings.Repeat("x", 10_000) + `"}`
			for ctx.Err() == nil && conn.Write(ctx, websocket.MessageText, []byte(message)) == nil {
			}
		})
	}
	all.Wait()
}

func openTerminals(t *testing.T, h *hog) {
	refused := 0
	for range 1000 {
		if r := h.page.ask("term.open", map[string]any{"cols": 80, "rows": 24}); !r.OK {
			told(t, r.Error, "close one first")
			if refused++; refused == 20 {
				break
			}
		}
	}
	if refused == 0 {
		t.Error("1000 terminals are open")
	}
	ctx, stop := context.WithTimeout(t.Context(), 15*time.Second)
	defer stop()
	for ctx.Err() == nil { // terminals that are closed at once cost a process each
		if id, err := h.page.send("term.open", map[string]any{"cols": 80, "rows": 24}); err != nil || id == 0 {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	var list []uint32
	h.page.mu.Lock()
	list = append(list, h.page.listed...)
	h.page.mu.Unlock()
	for _, id := range list {
		h.page.get("term.close", map[string]any{"terminal": id}, nil)
	}
	h.terminal = h.page.terminal()
}

func resetAgain(t *testing.T, h *hog) {
	for range 50 {
		if _, err := h.page.send("cluster.reset", nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	h.page.ready()
	h.terminal = h.page.terminal()
}
