package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	client "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/finalizer"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	registry "k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// TestConflictWithItself deletes a definition with upstream's finalizer. Its first attempt fails, and its second begins
// before its cache has what the first one wrote.
func TestConflictWithItself(t *testing.T) {
	t.Parallel()
	deleted := metav1.Unix(1, 0) // as JSON gives it back
	d := &definition{events: watch.NewFakeWithChanSize(10, false), gone: make(chan struct{})}
	d.stored.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	d.stored.Name, d.stored.ResourceVersion = "things.example.com", "1"
	d.stored.DeletionTimestamp, d.stored.Finalizers = &deleted, []string{apiextensionsv1.CustomResourceCleanupFinalizer}
	d.stored.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
	server := httptest.NewServer(d)
	defer server.Close()

	informer := cache.NewSharedIndexInformer(d, &apiextensionsv1.CustomResourceDefinition{}, 0, cache.Indexers{})
	access := retryConflicts(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}})
	controller := finalizer.NewCRDFinalizer(definitions{informer}, client.NewForConfigOrDie(access), &objects{})
	go informer.RunWithContext(t.Context())
	go controller.RunWithContext(1, t.Context())
	select {
	case <-d.gone:
	case <-time.After(20 * time.Second):
		t.Error("the definition is still there")
	}
}

// A definition is an API server that holds one. It tells watchers of the second write only after it refused another.
type definition struct {
	stored apiextensionsv1.CustomResourceDefinition
	events *watch.FakeWatcher
	gone   chan struct{}
}

func (d *definition) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var sent apiextensionsv1.CustomResourceDefinition
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if sent.ResourceVersion != d.stored.ResourceVersion {
		d.events.Modify(d.stored.DeepCopy())
		status := apierrors.NewConflict(schema.GroupResource{Resource: "customresourcedefinitions"}, sent.Name, errors.New("changed")).Status()
		w.WriteHeader(http.StatusConflict)
		json.NewEncoder(w).Encode(status)
		return
	}
	if len(sent.Finalizers) == 0 {
		close(d.gone)
	}
	version, _ := strconv.Atoi(d.stored.ResourceVersion)
	sent.ResourceVersion = strconv.Itoa(version + 1)
	d.stored = sent
	if version != 2 {
		d.events.Modify(d.stored.DeepCopy())
	}
	json.NewEncoder(w).Encode(sent)
}

// List, Watch and IsWatchListSemanticsUnSupported make it a cache's source.
func (d *definition) List(metav1.ListOptions) (runtime.Object, error) {
	list := &apiextensionsv1.CustomResourceDefinitionList{Items: []apiextensionsv1.CustomResourceDefinition{*d.stored.DeepCopy()}}
	list.ResourceVersion = d.stored.ResourceVersion
	return list, nil
}

func (d *definition) Watch(metav1.ListOptions) (watch.Interface, error) { return d.events, nil }

func (d *definition) IsWatchListSemanticsUnSupported() bool { return true }

type definitions struct{ cache.SharedIndexInformer }

func (d definitions) Informer() cache.SharedIndexInformer { return d.SharedIndexInformer }

func (d definitions) Lister() listers.CustomResourceDefinitionLister {
	return listers.NewCustomResourceDefinitionLister(d.GetIndexer())
}

// objects are a definition's objects, of which there are none, in a storage that is not ready at first.
type objects struct {
	registry.CollectionDeleter
	registry.Lister
	asked bool
}

func (o *objects) GetCustomResourceListerCollectionDeleter(*apiextensionsv1.CustomResourceDefinition) (finalizer.ListerCollectionDeleter, error) {
	return o, nil
}

func (o *objects) List(context.Context, *internalversion.ListOptions) (runtime.Object, error) {
	if !o.asked {
		o.asked = true
		return nil, apierrors.NewTooManyRequests("storage is (re)initializing", 1)
	}
	return &unstructured.UnstructuredList{}, nil
}
