package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/classroom"
	"github.com/apilab/apilab/server/protocol"
)

const (
	// handoutTime is how long a handout may take with one learner.
	handoutTime = 3 * time.Minute
	// maxScript bounds an instructor's script, in bytes.
	maxScript = 64 << 10
	// toldOutput is how much of a failed script's output is told, in bytes from its end.
	toldOutput = 600
)

// handOut brings a prepared state into the clusters of all learners: the setup of an exercise, or a script. The platform
// runs it, in each learner's own sandbox.
func (c *classPage) handOut(_ context.Context, a protocol.HandoutBegin) error {
	title, script := strings.TrimSpace(a.Title), a.Script
	if a.Exercise != "" {
		def := c.s.library.current().exercise(a.Exercise)
		if def == nil || def.Setup == "" {
			return fmt.Errorf("the exercise %q has nothing to hand out", a.Exercise)
		}
		title, script = def.Title, def.Setup
	}
	switch {
	case strings.TrimSpace(script) == "":
		return errors.New("choose an exercise, or write a script")
	case len(script) > maxScript:
		return fmt.Errorf("the script has %d bytes; %d is the most", len(script), maxScript)
	case title == "":
		return errors.New("give the script a name: the learners are told it")
	}
	// It goes on when the instructor leaves, and ends with the server.
	return c.room.HandOut(c.s.live, c.person.Name, title, func(ctx context.Context, learner string) error {
		return c.bring(ctx, learner, title, script)
	})
}

// bring runs the script in one learner's cluster. A cluster that rests is woken; one that was never made stays so.
func (c *classPage) bring(ctx context.Context, learner, title, script string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, handoutTime, fmt.Errorf("it took longer than %s", handoutTime))
	defer cancel()
	member, err := c.member(ctx, learner)
	if err != nil {
		return classroom.LeftOut("has left the class")
	}
	switch c.s.clusters.Status(learner).State {
	case cluster.Absent, cluster.Deleting:
		return classroom.LeftOut("has no cluster yet")
	case cluster.Failed:
		return errors.New("the cluster does not run; reset it first")
	}
	defer c.s.clusters.Use(learner)()
	made, err := c.s.clusters.Claim(ctx, learner)
	if err != nil {
		return fmt.Errorf("the cluster does not start: %w", err)
	}
	output, err := c.s.runner(member.Learner, made.Config())(ctx, checker.Platform, script)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(output[max(0, len(output)-toldOutput):]))
	}
	if h := c.s.hubOf(learner); h != nil {
		h.Notify(protocol.Info, fmt.Sprintf("%s has put something into your cluster: %s.", c.person.Name, title))
	}
	return nil
}
