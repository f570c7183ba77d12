package expr

import (
	"fmt"
	"testing"
)

func TestCache(t *testing.T) {
	t.Parallel()
	c := cache{limit: 3}
	get := func(source string, kind Kind, with ...string) *Expression {
		t.Helper()
		x, err := c.get(source, kind, with)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if get("objects == a + b", Objects, "a", "b") != get("objects == a + b", Objects, "b", "a") {
		t.Error("the order of variables matters")
	}
	if get("object == 1", Object) == get("object == 1", Wait) {
		t.Error("kinds share an expression")
	}
	if _, err := c.get("a.size() > 0 ", Objects, nil); err == nil {
		t.Error("an expression is found without its variables")
	}
	for i := range 10 {
		if x := get(fmt.Sprintf("object == %d", i), Object); x.Source() != fmt.Sprintf("object == %d", i) {
			t.Errorf("got %s", x.Source())
		}
	}
	if n := len(c.known); n > c.limit {
		t.Errorf("%d are kept", n)
	}
}
