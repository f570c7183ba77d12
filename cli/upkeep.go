package cli

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/limits"
)

// upkeepFlags say when clusters rest, how many are ready for learners who come, and what all of them may take.
type upkeepFlags struct {
	freeze time.Duration
	stop   time.Duration
	warm   int
	memory string
	each   string
}

func (o *upkeepFlags) add(flags *pflag.FlagSet) {
	flags.DurationVar(&o.freeze, "idle-freeze", 5*time.Minute, "freeze a cluster that nobody has used for so long; the next use wakes it at once (0: never)")
	flags.DurationVar(&o.stop, "idle-stop", 30*time.Minute, "stop a cluster, with its data, that nobody has used for so long; the next use starts it again (0: never)")
	flags.IntVar(&o.warm, "warm", 0, "clusters that are kept ready for learners who come")
	flags.StringVar(&o.each, "learner-memory", "1Gi", "memory that one learner's cluster may take at most on a server of classes, and their shells as much again")
	flags.StringVar(&o.memory, "memory", "", "memory that all clusters together may take, such as 12Gi; a start beyond it stops the one idle longest, or waits (default: any)")
}

func (o *upkeepFlags) options() (cluster.Options, error) {
	out := cluster.Options{FreezeAfter: o.freeze, StopAfter: o.stop, Warm: o.warm}
	for flag, negative := range map[string]bool{"idle-freeze": o.freeze < 0, "idle-stop": o.stop < 0, "warm": o.warm < 0} {
		if negative {
			return out, fmt.Errorf("--%s must not be negative: 0 switches it off", flag)
		}
	}
	if o.memory == "" {
		return out, nil
	}
	var err error
	out.Budget, err = bytesOf("memory", o.memory)
	return out, err
}

// leastEach is less than what a control plane takes that does nothing.
const leastEach = 256 << 20

// limits are what a learner may take of a machine that others use, too.
func (o *upkeepFlags) limits() (limits.Options, error) {
	if o.each == "" {
		return limits.Options{}, nil
	}
	each, err := bytesOf("learner-memory", o.each)
	if err == nil && each < leastEach {
		err = fmt.Errorf("--learner-memory: with %s no cluster could start: give it 256Mi at least", o.each)
	}
	return limits.Options{Memory: each}, err
}

func bytesOf(flag, text string) (int64, error) {
	memory, err := resource.ParseQuantity(text)
	if err != nil || memory.Sign() <= 0 {
		return 0, fmt.Errorf("--%s: %q is no amount of memory: write it as 12Gi or 800Mi", flag, text)
	}
	return memory.Value(), nil
}
