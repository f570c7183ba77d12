package server

import (
	"context"
	"path/filepath"

	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/store"
	"github.com/apilab/apilab/shell"
)

// A shellStarter starts a learner's shell on a terminal.
type shellStarter func(ctx context.Context, learner store.Learner, size hub.Size, edit hub.EditFunc) (hub.Shell, error)

// startShell is the one that is no test's.
func (s *Server) startShell(ctx context.Context, learner store.Learner, size hub.Size, edit hub.EditFunc) (hub.Shell, error) {
	o, err := s.shellOptions(learner)
	if err != nil {
		return nil, err
	}
	o.Cols, o.Rows = size.Cols, size.Rows
	o.OnEdit = func(ctx context.Context, e shell.Edit) (saved bool, text string, err error) {
		return edit(ctx, hub.Edit{Name: e.Name, Text: e.Text, Language: e.Language})
	}
	t, err := shell.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// shellOptions are what all of a learner's shells have in common. Their kubectl goes through the gateway.
func (s *Server) shellOptions(learner store.Learner) (shell.Options, error) {
	kubeconfig, err := s.gateway.Kubeconfig(learner.ID)
	if err != nil {
		return shell.Options{}, err
	}
	o := shell.Options{
		Home:        s.homeDir(learner.ID),
		Ports:       s.portsDir(learner.ID),
		Kubeconfig:  kubeconfig,
		GatewayAddr: s.gateway.Addr(),
		Host:        s.o.HostShell,
		Executable:  s.o.Executable,
		Started:     s.o.Clusters.Limits.Shells(learner.ID).Enter,
	}
	return o, nil
}

func (s *Server) learnerDir(id string) string { return filepath.Join(s.o.DataDir, "learners", id) }
func (s *Server) homeDir(id string) string    { return filepath.Join(s.learnerDir(id), "home") }
func (s *Server) portsDir(id string) string   { return filepath.Join(s.learnerDir(id), "ports") }
