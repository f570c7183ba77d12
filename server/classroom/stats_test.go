package classroom

import (
	"testing"
	"time"
)

func TestMostCommonWhy(t *testing.T) {
	for name, tt := range map[string]struct {
		whys  [2]string // Ada's and Bob's
		want  string
		count int
	}{
		"none":                        {[2]string{"", ""}, "", 0},
		"one":                         {[2]string{"no Pod", ""}, "no Pod", 1},
		"the same":                    {[2]string{"no Pod", "no Pod"}, "no Pod", 2},
		"the same but for values":     {[2]string{"`replicas` of \"x\" is 3", "`replicas` of \"yy\" is 12"}, "`replicas` of \"x\" is 3", 2},
		"others":                      {[2]string{"b is missing", "a is missing"}, "a is missing", 1},
		"a quote that does not close": {[2]string{"it says `x", "it says `y"}, "it says `x", 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *stage) {
				for i, learner := range []string{"ada", "bob"} {
					s.tell(learner, state("t/a", "a1:failing:"+tt.whys[i]))
				}
				time.Sleep(time.Second)
				if got := s.page.grid.Stats[0]; got.Why != tt.want || got.Count != tt.count || got.Opened != 2 {
					t.Errorf("stats %+v, want %d times %q", got, tt.count, tt.want)
				}
			})
		})
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		times []time.Duration
		want  time.Duration
	}{{nil, 0}, {[]time.Duration{7}, 7}, {[]time.Duration{9, 1}, 5}, {[]time.Duration{9, 1, 2}, 2}, {[]time.Duration{8, 4, 100, 2}, 6}} {
		if got := median(tt.times); got != tt.want {
			t.Errorf("median(%v) = %v, want %v", tt.times, got, tt.want)
		}
	}
}
