package controlplane

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	restful "github.com/emicklei/go-restful/v3"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/apiserver/pkg/server/routes"
	"k8s.io/apiserver/pkg/util/openapi"
	openapiv3 "k8s.io/kube-aggregator/pkg/controllers/openapiv3/aggregator"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/handler3"
)

// serveDocuments makes server serve its OpenAPI documents, as its PrepareRun would: see SkipOpenAPIInstallation. Upstream
// keeps the documents of all groups in memory, and asks for their list every second. This keeps the list, and the
// documents that somebody has asked for, which upstream makes then.
func serveDocuments(server *genericapiserver.GenericAPIServer, config *genericapiserver.Config) error {
	all := server.Handler.GoRestfulContainer
	at := server.Handler.NonGoRestfulMux
	at.Handle("/openapi/v2", onDemand(func() http.Handler {
		documents := mux.NewPathRecorderMux("openapi/v2")
		routes.OpenAPI{Config: config.OpenAPIConfig}.InstallV2(all, documents)
		return documents
	}))

	list := handler3.OpenAPIV3Discovery{Paths: map[string]handler3.OpenAPIV3DiscoveryGroupVersion{}}
	groups := map[string]http.Handler{}
	downloader := openapiv3.NewDownloader()
	for _, service := range all.RegisteredWebServices() {
		document := func() http.Handler {
			documents := mux.NewPathRecorderMux("openapi/v3")
			own := *config.OpenAPIV3Config // it is written to
			routes.OpenAPI{V3Config: &own}.InstallV3(restful.NewContainer().Add(service), documents)
			return documents
		}
		// The list has the hash of each document, so all are made once.
		one, status, err := downloader.OpenAPIV3Root(document())
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("list the documents of %s: status %d, %v", service.RootPath(), status, err)
		}
		maps.Copy(list.Paths, one.Paths)
		groups[strings.TrimPrefix(service.RootPath(), "/")] = onDemand(document)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	began := time.Now()
	at.Handle("/openapi/v3", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		http.ServeContent(w, r, "", began, bytes.NewReader(text))
	}))
	at.HandlePrefix("/openapi/v3/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		group := groups[strings.TrimPrefix(r.URL.Path, "/openapi/v3/")]
		if group == nil {
			http.NotFound(w, r)
			return
		}
		group.ServeHTTP(w, r)
	}))
	return nil
}

// describing returns the configuration of the documents of a server that serves only types that definitions has. Upstream
// lets each server of the chain choose from all types there are.
func describing(all *common.Config, definitions common.GetOpenAPIDefinitions) *common.Config {
	own := *all
	own.GetDefinitions = openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(definitions)
	return &own
}

// onDemand returns a handler that is made by the first request to it.
func onDemand(make func() http.Handler) http.Handler {
	made := sync.OnceValue(make)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { made().ServeHTTP(w, r) })
}
