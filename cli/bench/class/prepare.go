package class

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/apilab/apilab/cli/bench/browser"
)

const (
	warmTime = 30 * time.Minute // for all clusters to be made ahead
	atOnce   = 8                // people who register at the same time
)

var joinCode = regexp.MustCompile(`\b[A-Z0-9]{4}-[A-Z0-9]{4}\b`)

// prepare makes a class, and what the run wants to be there before the learners come.
func (r *room) prepare(ctx context.Context) error {
	if err := r.makeClass(ctx); err != nil {
		return fmt.Errorf("make a class: %w", err)
	}
	if r.kind == Registered {
		if err := r.register(ctx, r.o.Registered-r.o.Learners); err != nil {
			return fmt.Errorf("register learners: %w", err)
		}
	}
	if r.kind != Cold {
		return r.warmUp(ctx)
	}
	return nil
}

// makeClass makes a class as the first admin does, with the link that the console shows.
func (r *room) makeClass(ctx context.Context) error {
	admin, err := browser.New(r.server.Base)
	if err != nil {
		return err
	}
	if _, err := admin.Post(ctx, r.server.Link, url.Values{}); err != nil {
		return err
	}
	places := strconv.Itoa(max(r.o.Learners, r.o.Registered))
	invitation, err := admin.Post(ctx, "/classes", url.Values{"name": {"Bench"}, "capacity": {places}})
	if err != nil {
		return err
	}
	code := joinCode.Find(invitation.Body)
	if code == nil {
		return errors.New("the page that invites to it shows no join code")
	}
	r.code = string(code)
	r.instructor = &instructor{room: r, browser: admin, class: path.Base(path.Dir(invitation.URL.Path))}
	return nil
}

// join makes the learner a member of the class.
func (r *room) join(ctx context.Context, l *learner) error {
	began := time.Now()
	if _, err := l.get(ctx, "/join/"+r.code); err != nil {
		return err
	}
	_, err := l.browser.Post(ctx, "/join", url.Values{"code": {r.code}, "name": {l.name}})
	l.count("/join", err)
	if err == nil {
		r.tally.milliseconds(&r.tally.joined, time.Since(began))
	}
	return err
}

// register makes members who do no more than join.
func (r *room) register(ctx context.Context, n int) error {
	r.o.Says(fmt.Sprintf("%s: %d learners register", r.kind, n))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error {
			l, err := r.newLearner(ctx, fmt.Sprintf("Registered %d", i+1))
			if err != nil {
				return err
			}
			defer l.browser.Close()
			return r.join(ctx, l)
		})
	}
	return group.Wait()
}

// warmUp has a cluster made for each learner, as the instructor does.
func (r *room) warmUp(ctx context.Context) error {
	r.o.Says(fmt.Sprintf("%s: %d clusters are made ahead", r.kind, r.o.Learners))
	ctx, cancel := context.WithTimeout(ctx, warmTime)
	defer cancel()
	began := time.Now()
	if err := r.instructor.warmUp(ctx, r.o.Learners); err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	r.tally.warmed = time.Since(began)
	return nil
}
