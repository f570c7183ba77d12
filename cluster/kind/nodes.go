package kind

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// clusterLabel is what kind calls a container's cluster.
const clusterLabel = "io.x-k8s.kind.cluster"

// mountPoint is where a node has the part of our folder that is for it. It is our mark, too: see node.ours.
const mountPoint = "/apilab"

// clusterName is what kind calls a learner's cluster.
func clusterName(id string) string { return "apilab-" + id }

// nodeNames are what kind calls the containers of a cluster of n nodes.
func nodeNames(id string, n int) []string {
	names := []string{clusterName(id) + "-control-plane"}
	for i := 1; i < n; i++ {
		name := clusterName(id) + "-worker"
		if i > 1 {
			name += fmt.Sprint(i)
		}
		names = append(names, name)
	}
	return names
}

// A node is a container of a kind cluster, as the engine describes it.
type node struct {
	ID    string `json:"Id"`
	Name  string
	State struct {
		Status  string // "running", "exited", "created", "paused" …
		Running bool
		Paused  bool
		Pid     int
	}
	Config struct{ Labels map[string]string }
	Mounts []struct{ Source, Destination string }
}

// source is what the node has mounted at mountPoint, "" if nothing.
func (n *node) source() string {
	for _, m := range n.Mounts {
		if m.Destination == mountPoint {
			return m.Source
		}
	}
	return ""
}

// ours tells whether the node was made for the cluster of this folder. An engine in a virtual machine may know the path
// below another one.
func (n *node) ours(f folder) bool {
	source := n.source()
	return source == f.shared() || strings.HasSuffix(source, f.shared()) && strings.HasPrefix(source, "/host_mnt")
}

// moving tells whether the engine is on its way to another state, in which it takes no orders.
func (n *node) moving() bool {
	return slices.Contains([]string{"stopping", "removing", "restarting"}, n.State.Status)
}

// nodes returns the containers of a kind cluster, whoever made it, in the order of their names; of all clusters if name is "".
func (e Engine) nodes(ctx context.Context, name string) ([]node, error) {
	label := clusterLabel
	if name != "" {
		label += "=" + name
	}
	out, err := e.run(ctx, quick, "ps", "--all", "--quiet", "--no-trunc", "--filter", "label="+label)
	if err != nil {
		return nil, err
	}
	ids := lines(out)
	if len(ids) == 0 {
		return nil, nil
	}
	if out, err = e.run(ctx, quick, append([]string{"container", "inspect"}, ids...)...); err != nil {
		return nil, err
	}
	return parseNodes(out)
}

func parseNodes(inspected string) ([]node, error) {
	var all []node
	if err := json.Unmarshal([]byte(inspected), &all); err != nil {
		return nil, fmt.Errorf("read what the engine says of its containers: %w", err)
	}
	for i := range all {
		all[i].Name = strings.TrimPrefix(all[i].Name, "/")
	}
	slices.SortFunc(all, func(a, b node) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func ids(nodes []node) []string {
	out := make([]string, len(nodes))
	for i, n := range nodes {
		out[i] = n.ID
	}
	return out
}

// remove removes containers of ours with their volumes.
func (e Engine) remove(ctx context.Context, nodes []node) error {
	if len(nodes) == 0 {
		return nil
	}
	_, err := e.run(ctx, slow, append([]string{"rm", "--force", "--volumes"}, ids(nodes)...)...)
	return err
}

// removeVolumes removes the volumes that kind makes for nodes of these names where the engine makes none by itself.
func (e Engine) removeVolumes(ctx context.Context, names []string) error {
	if e != "podman" {
		return nil
	}
	for _, name := range names {
		out, err := e.run(ctx, quick, "volume", "ls", "--quiet", "--filter", "label="+name+"=true")
		if err != nil {
			return err
		}
		if volumes := lines(out); len(volumes) > 0 {
			if _, err := e.run(ctx, slow, append([]string{"volume", "rm", "--force"}, volumes...)...); err != nil {
				return err
			}
		}
	}
	return nil
}
