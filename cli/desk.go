package cli

import (
	"context"
	"errors"

	"github.com/apilab/apilab/cli/control"
	"github.com/apilab/apilab/cluster"
)

// A desk answers for a lab what a running apilab answers for its learner, so that a program beside a proof brings images to
// its nodes as a learner does.
type desk struct {
	cluster    cluster.Cluster
	kubeconfig []byte
}

func (d desk) SignInURL() (string, error)  { return "", errors.New("a lab has no pages") }
func (d desk) Kubeconfig() ([]byte, error) { return d.kubeconfig, nil }

func (d desk) Images() (cluster.Images, error) {
	images, ok := d.cluster.(cluster.Images)
	if !ok {
		return nil, errors.New("the nodes of this lab are simulated")
	}
	return images, nil
}

// open serves the desk in a folder until close, which returns when nothing is served any more.
func (d desk) open(dir string) (close func() error) {
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- control.Serve(ctx, dir, d) }()
	return func() error {
		stop()
		return <-served
	}
}
