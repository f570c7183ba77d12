package controller

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	storagev1alpha1 "github.com/apilab/apilab/operator/api/v1alpha1"
)

// The tests have a cluster of their own: an apilab on a folder that is gone when they end.
var (
	config *rest.Config
	k8s    client.Client // straight to the API server, without a cache
)

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	logf.SetLogger(zap.New(zap.WriteTo(os.Stderr), zap.UseDevMode(true)))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var stop func() error
	if config, stop, err = startCluster(ctx); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	crds := envtest.CRDInstallOptions{Paths: []string{filepath.Join("..", "..", "config", "crd", "bases")}, ErrorIfPathMissing: true}
	if _, err := envtest.InstallCRDs(config, crds); err != nil {
		return 1, fmt.Errorf("install the CRD: %w", err)
	}
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(storagev1alpha1.AddToScheme(scheme))
	if k8s, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return 1, err
	}
	for _, name := range []string{"backup-catalog", "bakery"} {
		namespace := &unstructured.Unstructured{}
		namespace.SetAPIVersion("v1")
		namespace.SetKind("Namespace")
		namespace.SetName(name)
		if err := k8s.Create(ctx, namespace); err != nil {
			return 1, err
		}
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Cache: CacheOptions(), Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return 1, err
	}
	reconciler := &BackupPolicyReconciler{Client: mgr.GetClient(), Recorder: mgr.GetEventRecorder("backup-operator")}
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return 1, err
	}
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(ctx) }()
	code = m.Run()
	cancel()
	return code, <-stopped
}

// startCluster starts the apilab that APILAB_BIN names, or the one on the PATH, and returns access to its cluster.
func startCluster(ctx context.Context) (_ *rest.Config, stop func() error, err error) {
	program := os.Getenv("APILAB_BIN")
	if program == "" {
		if program, err = exec.LookPath("apilab"); err != nil {
			return nil, nil, errors.New("these tests need an API server: put apilab on your PATH, or its file's name into APILAB_BIN")
		}
	}
	dir, err := os.MkdirTemp("", "operator-test-")
	if err != nil {
		return nil, nil, err
	}
	var output bytes.Buffer
	apilab := exec.Command(program, "serve", "--no-open", "--data-dir", dir)
	apilab.Stdout, apilab.Stderr = &output, &output
	if err := apilab.Start(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("start apilab: %w", err), os.RemoveAll(dir))
	}
	stop = func() error {
		_ = apilab.Process.Signal(syscall.SIGTERM)
		_ = apilab.Wait()
		return os.RemoveAll(dir)
	}
	patience, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		access, err := access(patience, program, dir)
		if err == nil {
			return access, stop, nil
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-patience.Done():
			return nil, nil, errors.Join(fmt.Errorf("apilab does not come up: %w\n%s", err, output.String()), stop())
		}
	}
}

// access returns the learner's access once the cluster answers.
func access(ctx context.Context, program, dir string) (*rest.Config, error) {
	file := filepath.Join(dir, "tests.kubeconfig")
	if out, err := exec.CommandContext(ctx, program, "kubeconfig", "--data-dir", dir, "--output", file).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	reader, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	accounts := &unstructured.UnstructuredList{}
	accounts.SetAPIVersion("v1")
	accounts.SetKind("ServiceAccountList")
	return config, reader.List(ctx, accounts, client.InNamespace("default"))
}
