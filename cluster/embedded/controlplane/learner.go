package controlplane

import (
	"context"
	"log/slog"

	utilwait "k8s.io/apimachinery/pkg/util/wait"

	"github.com/apilab/apilab/cluster/learner"
)

// restoring is how often the learner's rights are restored in vain; the store may be full.
var restoring = utilwait.Backoff{Duration: poll, Factor: 2, Steps: 10}

// ensureLearner makes the learner's group cluster-admin.
func (c *clients) ensureLearner(ctx context.Context) error {
	return learner.Ensure(ctx, c.kube.RbacV1())
}

// keepLearner restores that whenever the learner changes or deletes it, until ctx ends.
func (c *clients) keepLearner(ctx context.Context) {
	learner.Keep(ctx, c.kube.RbacV1(), restoring, slog.Default())
}
