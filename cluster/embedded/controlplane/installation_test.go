package controlplane

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/emicklei/go-restful/v3"
	genericapiserver "k8s.io/apiserver/pkg/server"
)

// TestForgetInstallation notices when upstream has renamed what is freed: nothing else would but the memory.
func TestForgetInstallation(t *testing.T) {
	t.Parallel()
	service := new(restful.WebService).Path("/apis/example.com/v1")
	called := false
	service.Route(service.GET("/namespaces/{namespace}/things").To(func(r *restful.Request, _ *restful.Response) {
		called = r.PathParameter("namespace") == "lab"
	}))
	container := restful.NewContainer()
	container.Router(restful.CurlyRouter{}) // as genericapiserver.NewAPIServerHandler
	container.Add(service)
	server := &genericapiserver.GenericAPIServer{Handler: &genericapiserver.APIServerHandler{GoRestfulContainer: container}}
	server.RegisterDestroyFunc(func() { t.Error("it was called") })
	forgetInstallation(server)
	server.Destroy()
	route := service.Routes()[0]
	for _, of := range []any{service, &route} {
		if path := field(reflect.ValueOf(of), "pathExpr"); !path.IsValid() || !field(path, "Matcher").IsValid() || !field(path, "Matcher").IsNil() {
			t.Errorf("%T keeps its expression, or has it elsewhere", of)
		}
	}
	get(t, container, "/apis/example.com/v1/namespaces/lab/things")
	if !called {
		t.Error("the route is not found any more")
	}
}

func get(t *testing.T, handler http.Handler, path string) {
	t.Helper()
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
}
