package kubectl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/apilab/apilab/shell/localhost"
	"github.com/apilab/apilab/shell/vfs"
)

func newTestConfined(t testing.TB) *confined {
	t.Helper()
	base := t.TempDir()
	home := filepath.Join(base, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	v, err := vfs.New(home, vfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	if home, err = filepath.EvalSymlinks(home); err != nil {
		t.Fatal(err)
	}
	return &confined{
		Confinement: Confinement{Home: home, Dir: vfs.Home, Gateway: "127.0.0.1:6443"},
		fs:          v, ports: localhost.New(base), streams: genericiooptions.NewTestIOStreamsDiscard(),
	}
}

// harmlessFlags name no file and run nothing. A flag that is in neither this list nor in kinds is new in kubectl, and has to
// be looked at before it is added to one of them.
var harmlessFlags = strings.Fields(`
accept-hosts accept-paths address aggregation-rule all all-containers all-namespaces all-pods
allow-missing-template-keys allowlist-entry annotation annotations api-group api-prefix api-version append-hash
append-server-path appendarg arguments-only as as-group as-uid as-user-extra attach audience auth-provider
auth-provider-arg bound-object-kind bound-object-name bound-object-uid cached cascade categories chunk-size class
client cluster cluster-ip clusterip clusterrole command concurrency container containers context copy-to cpu
cpu-percent create-annotation current current-replicas default-backend delete-emptydir-data description detach-keys
disable-compression disable-eviction disable-filter docker-email docker-password docker-server docker-username dry-run
duration edit embed-certs enable-managedby-label env exec-api-version exec-arg exec-command exec-env
exec-interactive-mode exec-provide-cluster-info expose external-ip external-name field-manager field-selector flatten
follow for force force-conflicts from from-literal global-default grace-period group hard helm-api-versions helm-debug
helm-kube-version ignore-daemonsets ignore-errors ignore-not-found image image-pull-policy insecure-skip-tls-verify
insecure-skip-tls-verify-backend interactive keep-annotations keep-init-containers keep-labels keep-liveness
keep-readiness keep-startup keepalive keys label-columns labels leave-stdin-open limit-bytes limits list
load-balancer-ip load-restrictor local match-server-version max max-depth max-log-requests max-unavailable memory
merge min min-available minify name name-only namespace namespaced namespaces no-headers no-preserve node-port
non-resource-url now openapi-patch option output-patch output-watch-events override-type overrides overwrite password
patch pod-running-timeout pod-selector policy port preemption-policy prefix prependarg previous privileged profile
protocol proxy-url prune prune-allowlist quiet raw record recursive reject-methods reject-paths
remove-extra-permissions remove-extra-subjects reorder replace replicas request-timeout requests resolve resource
resource-name resource-version restart retries revision rm role rule same-node save-config schedule scopes section
selector server server-print server-side serviceaccount session-affinity set-image set-raw-bytes share-processes
show-capacity show-events show-kind show-labels show-managed-fields show-secrets show-swap since since-time
skip-wait-for-delete-timeout sort-by stdin subresource sum tail target target-port tcp timeout timestamps
tls-server-name to-revision token tty type types use-protocol-buffers user username validate value verb verbs wait
warnings-as-errors watch watch-only windows-line-endings www-prefix
`)

func walk(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		walk(sub, do)
	}
}

func TestFlagsAreKnown(t *testing.T) {
	t.Parallel()
	k := newTestConfined(t)
	seen, known := map[string]string{}, map[string]bool{}
	walk(k.command(nil), func(c *cobra.Command) {
		c.InheritedFlags()
		c.Flags().VisitAll(func(f *pflag.Flag) {
			known[f.Name] = true
			if kindOf(c, f.Name) == harmless && !slices.Contains(harmlessFlags, f.Name) {
				seen[f.Name] = c.CommandPath() + ": " + f.Usage
			}
		})
	})
	for name, where := range seen {
		t.Errorf("unknown flag --%s of %s", name, where)
	}
	for _, name := range harmlessFlags {
		if !known[name] {
			t.Errorf("--%s is not in kubectl any more", name)
		}
	}
}

// Cobra runs only the nearest hook before a command: a command with one of its own would not be vetted.
func TestOnlyTheRootHasAHook(t *testing.T) {
	t.Parallel()
	walk(newTestConfined(t).command(nil), func(c *cobra.Command) {
		if c.HasParent() && (c.PersistentPreRun != nil || c.PersistentPreRunE != nil) {
			t.Errorf("%s has a hook of its own", c.CommandPath())
		}
	})
}

// named lists the files that a command's flags and operands name.
func named(c *cobra.Command, operands []string) []string {
	var all []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "cache-dir" && !f.Changed {
			return // of the process's own home, which is the learner's
		}
		values := []string{f.Value.String()}
		if s, ok := f.Value.(pflag.SliceValue); ok {
			values = s.GetSlice()
		}
		for _, v := range values {
			switch kindOf(c, f.Name) {
			case file, source, kustomized:
				all = append(all, v)
			case keyed:
				if _, name, ok := strings.Cut(v, "="); ok {
					v = name
				}
				all = append(all, v)
			case output:
				if format, name, ok := strings.Cut(v, "="); ok && strings.HasSuffix(format, "file") {
					all = append(all, name)
				}
			}
		}
	})
	if c.CommandPath() == "kubectl cp" {
		for _, a := range operands {
			if !strings.Contains(a, ":") {
				all = append(all, a)
			}
		}
	}
	return all
}
