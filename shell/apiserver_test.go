package shell

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// apiServer answers what these tests ask of an API server, in a server of their own at the seam of the network: a
// real one would have to be linked into this package's tests. The scenarios against the real one are at the top level.
type apiServer struct {
	*httptest.Server
	watches atomic.Int64 // under way
	posts   atomic.Int64
	schemas atomic.Int64 // of OpenAPI v2, asked for
}

func newAPIServer(t *testing.T) *apiServer {
	a := &apiServer{}
	reply := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, text)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/version", reply(`{"major":"1","minor":"37","gitVersion":"v1.37.2"}`))
	mux.HandleFunc("/api", reply(`{"kind":"APIVersions","versions":["v1"]}`))
	mux.HandleFunc("/apis", reply(`{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`))
	mux.HandleFunc("/openapi/v2", func(w http.ResponseWriter, r *http.Request) {
		a.schemas.Add(1)
		http.NotFound(w, r)
	})
	mux.HandleFunc("/openapi/v3", reply(`{"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1"}}}`))
	mux.HandleFunc("/openapi/v3/api/v1", reply(`{"openapi":"3.0.0","paths":{},"components":{"schemas":{}}}`))
	mux.HandleFunc("/api/v1", reply(`{"kind":"APIResourceList","groupVersion":"v1","resources":[
		{"name":"namespaces","singularName":"namespace","namespaced":false,"kind":"Namespace","verbs":["get","list","watch"],"shortNames":["ns"]},
		{"name":"configmaps","singularName":"configmap","namespaced":true,"kind":"ConfigMap","verbs":["get","list","create","update","patch"],"shortNames":["cm"]},
		{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list","watch"],"shortNames":["po"]}]}`))
	mux.HandleFunc("/api/v1/namespaces", func(w http.ResponseWriter, r *http.Request) {
		ns := func(name string) string {
			return `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"` + name + `","resourceVersion":"5"}}`
		}
		reply(`{"kind":"NamespaceList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[`+ns("alpha")+`,`+ns("beta")+`]}`)(w, r)
	})
	mux.HandleFunc("/api/v1/namespaces/default/pods", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			reply(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]}`)(w, r)
			return
		}
		a.watches.Add(1)
		defer a.watches.Add(-1)
		w.Header().Set("Content-Type", "application/json")
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			fmt.Fprintf(w, `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p%d","namespace":"default","resourceVersion":"%d"}}}`+"\n", i, i+6)
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
			}
		}
	})
	mux.HandleFunc("/api/v1/namespaces/default/configmaps", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			a.posts.Add(1)
			var v any
			json.NewDecoder(r.Body).Decode(&v)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			json.NewEncoder(w).Encode(v)
			return
		}
		reply(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[]}`)(w, r)
	})
	mux.HandleFunc("/api/v1/namespaces/default/configmaps/{name}", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			var v any
			json.NewDecoder(r.Body).Decode(&v)
			w.Header().Set("X-Patched", "yes")
		}
		if r.PathValue("name") != "there" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"configmaps %q not found"}`, r.PathValue("name"))
			return
		}
		reply(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"there","namespace":"default","resourceVersion":"7","uid":"u"},"data":{"k":"v"}}`)(w, r)
	})
	a.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer learner-token") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		a.CloseClientConnections()
		a.Close()
	})
	return a
}

func (a *apiServer) addr() string { return a.Listener.Addr().String() }

func (a *apiServer) kubeconfig(t *testing.T, token string) []byte {
	c := api.NewConfig()
	c.Clusters["apilab"] = &api.Cluster{Server: "https://" + a.addr(), InsecureSkipTLSVerify: true}
	c.AuthInfos["learner"] = &api.AuthInfo{Token: token}
	c.Contexts["apilab"] = &api.Context{Cluster: "apilab", AuthInfo: "learner", Namespace: "default"}
	c.CurrentContext = "apilab"
	text, err := clientcmd.Write(*c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// withCluster are options of a learner who has an API server.
func withCluster(t *testing.T) (Options, *apiServer) {
	a := newAPIServer(t)
	o := newOptions(t)
	o.GatewayAddr = a.addr()
	o.Kubeconfig = a.kubeconfig(t, "learner-token")
	return o, a
}
