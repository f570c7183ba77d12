package cli

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/apilab/apilab/cluster/limits"
)

// openLimits makes the shares of the machine that learners are held to, and says where this is less than could be.
func openLimits(o limits.Options, learners int, log *slog.Logger) *limits.Limits {
	o.Logger = log
	l := limits.Open(o)
	if says, why := l.Says(); why != nil {
		log.Warn("learners are held apart "+says, "why", why)
	}
	if f := examineInotify(learners); f.grade != good {
		log.Warn("inotify: "+f.says, "fix", f.fix)
	}
	return l
}

// examineLimits looks at how well one learner's endless loop would be kept from the others.
func examineLimits(_ context.Context, learners int) finding {
	says, why := limits.Probe()
	f := finding{grade: good, says: says}
	if why != nil && learners > 1 {
		f.grade, f.fix = warning, fmt.Sprintf("for a class: %v", why)
	}
	return f
}
