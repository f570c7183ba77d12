// Package ownmachine proves with the real binary that learners of a class work from machines of their own: with a stock
// kubectl, with a program on client-go, and with the operator of the track Build an operator, all by the kubeconfig that
// their page gives them.
package ownmachine

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// patience bounds every wait: a cluster starts within seconds, on a busy machine within minutes.
const patience = 4 * time.Minute

var (
	binary   string // apilab
	kubectl  string
	operator string // the reference operator's manager
)

func TestMain(m *testing.M) {
	if err := find(); err != nil {
		fmt.Fprintln(os.Stderr, "test/ownmachine:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func find() (err error) {
	if binary, err = filepath.Abs(cmp.Or(os.Getenv("APILAB_BIN"), "../../bin/apilab")); err != nil {
		return err
	}
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("%w: run `make build` first", err)
	}
	if operator, err = filepath.Abs("../../operator/bin/manager"); err != nil {
		return err
	}
	if _, err := os.Stat(operator); err != nil {
		return fmt.Errorf("%w: run `make operators` first", err)
	}
	if kubectl = os.Getenv("APILAB_TEST_KUBECTL"); kubectl != "" {
		return nil
	}
	if kubectl, err = exec.LookPath("kubectl"); err == nil {
		return nil
	}
	fmt.Println("test/ownmachine: no kubectl on this machine: the one within apilab takes its place, outside of the sandbox")
	dir, err := os.MkdirTemp("", "apilab-ownmachine-")
	if err != nil {
		return err
	}
	kubectl = filepath.Join(dir, "kubectl") // by this name it is nothing else; the system clears the folder
	return os.Symlink(binary, kubectl)
}
