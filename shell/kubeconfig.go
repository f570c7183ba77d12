package shell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

func kubeconfigPath(home string) string { return filepath.Join(home, ".kube", "config") }

// installKubeconfig writes the learner's kubeconfig to ~/.kube/config. What the learner put there besides stays: other
// contexts, clusters and users, the current context and its namespace. One that cannot be read is kept as config.broken,
// and the note for the learner says so.
func installKubeconfig(home string, text []byte) (note string, err error) {
	if len(text) == 0 {
		return "", nil
	}
	ours, err := clientcmd.Load(text)
	if err != nil {
		return "", fmt.Errorf("start shell: kubeconfig: %w", err)
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return "", fmt.Errorf("start shell: %w", err)
	}
	defer root.Close()
	if err := root.MkdirAll(".kube", 0o700); err != nil {
		return "", fmt.Errorf("start shell: kubeconfig: %w", err)
	}
	const name = ".kube/config"
	old, err := root.ReadFile(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return "", fmt.Errorf("start shell: kubeconfig: %w", err)
	default:
		theirs, lerr := clientcmd.Load(old)
		if lerr != nil {
			if err := root.Rename(name, name+".broken"); err != nil {
				return "", fmt.Errorf("start shell: kubeconfig: %w", err)
			}
			note = "~/.kube/config could not be read (" + lerr.Error() + "). A new one was written, yours is ~/.kube/config.broken."
			break
		}
		if !merge(theirs, ours) {
			return "", nil
		}
		ours = theirs
	}
	if text, err = clientcmd.Write(*ours); err != nil {
		return "", fmt.Errorf("start shell: kubeconfig: %w", err)
	}
	part := name + ".part"
	if err := root.WriteFile(part, text, 0o600); err != nil {
		return "", fmt.Errorf("start shell: kubeconfig: %w", err)
	}
	if err := root.Rename(part, name); err != nil {
		return "", fmt.Errorf("start shell: kubeconfig: %w", err)
	}
	return note, nil
}

// merge puts our clusters, users and missing contexts into theirs, and reports whether that changed anything.
func merge(theirs, ours *api.Config) (changed bool) {
	for name, c := range ours.Clusters {
		o := theirs.Clusters[name]
		if o == nil || o.Server != c.Server || string(o.CertificateAuthorityData) != string(c.CertificateAuthorityData) {
			theirs.Clusters[name], changed = c, true
		}
	}
	for name, u := range ours.AuthInfos {
		o := theirs.AuthInfos[name]
		if o == nil || o.Token != u.Token || string(o.ClientCertificateData) != string(u.ClientCertificateData) {
			theirs.AuthInfos[name], changed = u, true
		}
	}
	for name, c := range ours.Contexts {
		if theirs.Contexts[name] == nil {
			theirs.Contexts[name], changed = c, true
		}
	}
	if theirs.Contexts[theirs.CurrentContext] == nil {
		theirs.CurrentContext, changed = ours.CurrentContext, true
	}
	return changed
}
