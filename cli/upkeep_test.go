package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/apilab/apilab/cluster"
)

func TestUpkeepFlags(t *testing.T) {
	t.Parallel()
	standard := func(change func(*cluster.Options)) cluster.Options {
		o := cluster.Options{FreezeAfter: 5 * time.Minute, StopAfter: 30 * time.Minute}
		change(&o)
		return o
	}
	for _, c := range []struct {
		args string
		want cluster.Options
		err  string
	}{
		{"", standard(func(*cluster.Options) {}), ""},
		{"--idle-freeze=0 --idle-stop=2h", standard(func(o *cluster.Options) { o.FreezeAfter, o.StopAfter = 0, 2*time.Hour }), ""},
		{"--warm=10 --memory=12Gi", standard(func(o *cluster.Options) { o.Warm, o.Budget = 10, 12<<30 }), ""},
		{"--warm=-1", cluster.Options{}, "--warm must not be negative"},
		{"--idle-stop=-1s", cluster.Options{}, "--idle-stop must not be negative"},
		{"--memory=much", cluster.Options{}, `--memory: "much" is no amount of memory: write it as 12Gi`},
		{"--memory=0", cluster.Options{}, "is no amount of memory"},
		{"--learner-memory=some", cluster.Options{}, `--learner-memory: "some" is no amount of memory`},
		{"--learner-memory=100Mi", cluster.Options{}, "--learner-memory: with 100Mi no cluster could start"},
	} {
		var o upkeepFlags
		flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
		o.add(flags)
		if err := flags.Parse(strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		got, err := o.options()
		if err == nil {
			_, err = o.limits()
		}
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: error %v, want %q", c.args, err, c.err)
		case c.err == "" && (err != nil || got.FreezeAfter != c.want.FreezeAfter || got.StopAfter != c.want.StopAfter || got.Warm != c.want.Warm || got.Budget != c.want.Budget):
			t.Errorf("%s: got %+v, %v", c.args, got, err)
		}
	}
}
