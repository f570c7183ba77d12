// Package real gives tests a real API server: that of the program in APILAB_BIN, which is started once for all tests of a
// package, or the one that APILAB_KUBECONFIG names. Without either, a test that asks for one is skipped.
package real

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Main runs a package's tests and stops what was started for them. To be called by TestMain.
func Main(m *testing.M) int {
	defer func() { stop() }()
	return m.Run()
}

var (
	once       sync.Once
	kubeconfig string
	config     *rest.Config
	failed     error
	stop       = func() {}
)

// Cluster returns the access to the API server, with all rights.
func Cluster(t *testing.T) *rest.Config {
	t.Helper()
	if os.Getenv("APILAB_BIN") == "" && os.Getenv("APILAB_KUBECONFIG") == "" {
		t.Skip("needs a real API server: set APILAB_BIN to a built apilab (make test does), or APILAB_KUBECONFIG")
	}
	once.Do(func() { failed = start() })
	if failed != nil {
		t.Fatal(failed)
	}
	return rest.CopyConfig(config)
}

func start() error {
	kubeconfig = os.Getenv("APILAB_KUBECONFIG")
	if kubeconfig == "" {
		if err := serve(os.Getenv("APILAB_BIN")); err != nil {
			return err
		}
	}
	var err error
	if config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
		return err
	}
	return ready(config)
}

// serve serves on a data directory of its own until stop.
func serve(program string) error {
	dir, err := os.MkdirTemp("", "apilab")
	if err != nil {
		return err
	}
	var log bytes.Buffer
	cmd := exec.Command(program, "serve", "--no-open", "--data-dir", filepath.Join(dir, "data"))
	cmd.Stderr = &log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	}
	lines := bufio.NewScanner(stdout)
	for !strings.Contains(lines.Text(), "http://") {
		if !lines.Scan() {
			return fmt.Errorf("%s did not start: %s", program, log.String())
		}
	}
	go func() { // nobody else reads, and a full pipe would stop it
		for lines.Scan() {
		}
	}()
	kubeconfig = filepath.Join(dir, "kubeconfig")
	output, err := exec.Command(program, "kubeconfig", "--data-dir", filepath.Join(dir, "data"), "-o", kubeconfig).CombinedOutput()
	if err != nil {
		return fmt.Errorf("get the kubeconfig: %w: %s", err, output)
	}
	return nil
}

// ready waits for the cluster: its gateway starts it on the first request, and answers 503 meanwhile.
func ready(config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	for {
		_, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(ctx, "kube-system", metav1.GetOptions{})
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the cluster is not ready: %w", err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Shell runs scripts with bash and kubectl, for a kubeconfig; "" is that with all rights.
func Shell(t *testing.T, file string) func(ctx context.Context, script string) (string, error) {
	t.Helper()
	Cluster(t)
	if file == "" {
		file = kubeconfig
	}
	dir := t.TempDir()
	if program := os.Getenv("APILAB_BIN"); program != "" {
		if err := os.Symlink(program, filepath.Join(dir, "kubectl")); err != nil {
			t.Fatal(err)
		}
	}
	return func(ctx context.Context, script string) (string, error) {
		cmd := exec.CommandContext(ctx, "bash", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "KUBECONFIG="+file, "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir)
		output, err := cmd.CombinedOutput()
		return string(output), err
	}
}
