package controlplane

import (
	"reflect"
	"unsafe"

	genericapiserver "k8s.io/apiserver/pkg/server"
)

// forgetInstallation frees what an API server that has been installed keeps and never looks at again; 14 MB. Upstream
// has no door to either, so a field that is not where it was is left alone, which a test notices.
//
//   - What it would do to end: nothing calls it, as the process ends without. It holds the schemas of all types.
//   - The regular expression of each route, which go-restful makes for a router that the API server does not use.
func forgetInstallation(server *genericapiserver.GenericAPIServer) {
	if ends := field(reflect.ValueOf(server), "destroyFns"); ends.IsValid() {
		ends.SetZero()
	}
	for _, service := range server.Handler.GoRestfulContainer.RegisteredWebServices() {
		forgetExpression(reflect.ValueOf(service))
		for _, route := range service.Routes() {
			forgetExpression(reflect.ValueOf(&route))
		}
	}
}

// forgetExpression lets a service or a route, which share it with their copies, match by the path's segments alone.
func forgetExpression(of reflect.Value) {
	path := field(of, "pathExpr")
	if !path.IsValid() || path.Kind() != reflect.Pointer || path.IsNil() {
		return
	}
	if matcher := field(path, "Matcher"); matcher.IsValid() && matcher.Kind() == reflect.Pointer {
		matcher.SetZero()
	}
}

// field returns a field of the struct that a pointer points to, to be written; it is not valid if there is none.
func field(pointer reflect.Value, name string) reflect.Value {
	f := pointer.Elem().FieldByName(name)
	if !f.IsValid() {
		return f
	}
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}
