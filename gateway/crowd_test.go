package gateway

import "testing"

func TestCrowdIsBoundedByLearner(t *testing.T) {
	t.Parallel()
	var c crowd
	var leave func()
	for range maxUnderway {
		var ok bool
		if leave, ok = c.enter("many"); !ok {
			t.Fatal("refused below the bound")
		}
	}
	if _, ok := c.enter("many"); ok {
		t.Error("one too many")
	}
	if done, ok := c.enter("other"); !ok {
		t.Error("another learner is refused")
	} else {
		done()
	}
	leave()
	if _, ok := c.enter("many"); !ok {
		t.Error("refused where one has left")
	}
	if len(c.of) != 1 {
		t.Errorf("learners without requests are kept: %v", c.of)
	}
}
