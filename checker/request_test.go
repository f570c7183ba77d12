package checker

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/apilab/apilab/checker/internal/real"
)

func TestRequest(t *testing.T) {
	t.Parallel()
	gateway := real.NewGateway(t)
	l := newLab(t, func(o *Options) { o.Records = gateway.Recorder })
	learner, err := dynamic.NewForConfig(gateway.Config)
	if err != nil {
		t.Fatal(err)
	}
	maps := learner.Resource(configmaps).Namespace(l.namespace)
	list := func(o metav1.ListOptions) string {
		t.Helper()
		page, err := maps.List(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		return page.GetResourceVersion()
	}
	list(metav1.ListOptions{Limit: 7}) // before the opening: does not count
	id := l.open(`
  - id: limited
    says: Limited
    request: {verb: list, resource: configmaps, namespace: NS}
    expect: request.status.code == 200 && request.query.limit == '7'
    hints: [{when: "request.verb == 'list' && request.query[?'limit'].orValue('') == '9'", say: Nine is too many.}]
  - id: watched
    says: Watched
    request: {verb: watch, resource: configmaps, namespace: NS}
    expect: request.events.exists(e, e.type == 'ADDED' && e.object.metadata.name == 'new')
  - id: both
    says: Both
    request: {}
    expect: "['list', 'watch'].all(verb, requests.exists(r, r.verb == verb))"
  - id: broken
    says: Broken
    request: {verb: watch, resource: configmaps}
    expect: request.response.kind > 1
`)
	l.want(id, "limited", Failing, "you have not sent a list request for configmaps in NS yet")
	if _, err := learner.Resource(configmaps).Namespace("elsewhere").List(context.Background(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	l.want(id, "limited", Failing, "you listed configmaps in elsewhere, not in NS")
	version := list(metav1.ListOptions{Limit: 8})
	l.want(id, "limited", Failing, `in your GET /api/v1/namespaces/NS/configmaps?limit=8: query parameter limit is "8"; expected "7"`)
	list(metav1.ListOptions{Limit: 9})
	l.want(id, "limited", Failing, "Nine is too many.")
	list(metav1.ListOptions{Limit: 7})
	by := l.want(id, "limited", Passing).By
	if by == nil || !strings.HasSuffix(by.Request, "?limit=7") {
		t.Errorf("by %+v", by)
	}
	l.want(id, "both", Failing)

	// A watch counts while it is open: nobody has to end it first.
	stream, err := maps.Watch(context.Background(), metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	if by := l.want(id, "both", Passing).By; by == nil || !strings.Contains(by.Text, "watch=true") {
		t.Errorf("by %+v", by)
	}
	l.want(id, "watched", Failing)
	l.createConfigMap("new", nil)
	<-stream.ResultChan()
	l.want(id, "watched", Passing)
	l.want(id, "broken", Failing) // the response of a watch is not there: a reason like another
	_ = l.Reset(t.Context(), id)
	l.want(id, "limited", Failing, "you have not sent a list request for configmaps in NS yet")
}

func TestWatchThatIsOpenBefore(t *testing.T) {
	t.Parallel()
	gateway := real.NewGateway(t)
	l := newLab(t, func(o *Options) { o.Records = gateway.Recorder })
	learner, err := dynamic.NewForConfig(gateway.Config)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := learner.Resource(configmaps).Namespace(l.namespace).Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	created := func(name string) {
		t.Helper()
		l.createConfigMap(name, nil)
		for event := range stream.ResultChan() {
			if o, err := meta.Accessor(event.Object); err == nil && o.GetName() == name {
				return
			}
		}
	}
	created("before")
	id := l.open(`
  - id: open
    says: Open
    request: {verb: watch, resource: configmaps, namespace: NS}
    expect: request.status.code == 200
  - id: saw
    says: Saw
    request: {verb: watch, resource: configmaps, namespace: NS}
    expect: request.events.exists(e, e.type == 'ADDED' && e.object.metadata.name in ['before', 'after'])
`)
	l.want(id, "open", Passing)
	l.want(id, "saw", Passing)
	if err := l.Reset(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	l.want(id, "open", Passing)
	l.want(id, "saw", Failing)
	created("after")
	l.want(id, "saw", Passing)
}

func TestRequestThatBreaksACheck(t *testing.T) {
	t.Parallel()
	gateway := real.NewGateway(t)
	l := newLab(t, func(o *Options) { o.Records = gateway.Recorder })
	learner, err := dynamic.NewForConfig(gateway.Config)
	if err != nil {
		t.Fatal(err)
	}
	id := l.open(`
  - id: broken
    says: Broken
    request: {verb: list, resource: configmaps}
    expect: request.response.kind > 1
`)
	if _, err := learner.Resource(configmaps).List(context.Background(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	l.want(id, "broken", Broken, "request.response.kind > 1 cannot be evaluated: no such overload")
}
