package kubeversion

import (
	"os"
	"regexp"
	"testing"

	clientversion "k8s.io/client-go/pkg/version"
	"k8s.io/component-base/version"
)

func TestVersionIsThatOfTheModule(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`k8s\.io/kubernetes (v\S+)`).FindSubmatch(mod)
	if want == nil || string(want[1]) != Version {
		t.Errorf("go.mod requires k8s.io/kubernetes %s, Version is %s", want, Version)
	}
	if got := version.Get(); got.GitVersion != Version || got.Major != major || got.Minor != minor {
		t.Errorf("component-base calls itself %#v", got)
	}
	if got := clientversion.Get(); got.GitVersion != Version {
		t.Errorf("client-go calls itself %#v", got)
	}
}
