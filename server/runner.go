package server

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/server/store"
	"github.com/apilab/apilab/shell"
)

// maxScriptOutput bounds what is kept of a script's output, in bytes; it is for an error message.
const maxScriptOutput = 64 << 10

// runner runs an exercise's scripts beside the learner's terminals.
func (s *Server) runner(learner store.Learner, platform *rest.Config) checker.Runner {
	return func(ctx context.Context, who checker.Identity, script string) (string, error) {
		o, err := s.shellOptions(learner)
		if err != nil {
			return "", err
		}
		return NewRunner(o, platform)(ctx, who, script)
	}
}

// NewRunner runs an exercise's scripts in the sandbox of a learner's shell: as the platform straight against the cluster,
// which nobody records, or as the learner through the gateway, as the options say.
func NewRunner(o shell.Options, platform *rest.Config) checker.Runner {
	o.Host = false // the scripts are written for the shell that is the same everywhere
	return func(ctx context.Context, who checker.Identity, script string) (string, error) {
		o := o
		if who == checker.Platform {
			var err error
			script = "set -e\n" + script // a step of a setup that fails is told, not passed over
			if o.Kubeconfig, o.GatewayAddr, err = platformAccess(platform); err != nil {
				return "", err
			}
		}
		output := &boundedBuffer{}
		exit, err := shell.Run(ctx, o, script, output, output)
		if err == nil {
			err = failed(exit)
		}
		return output.String(), err
	}
}

// NewTyper runs scripts as the learner types them: a program that a script leaves running in the background goes on, as it
// does in a terminal, until leave is called. ctx is the script's alone.
func NewTyper(o shell.Options) func(ctx context.Context, script string) (output string, leave func(), err error) {
	o.Host = false
	return func(ctx context.Context, script string) (string, func(), error) {
		jobs, cancel := context.WithCancel(context.WithoutCancel(ctx))
		stop := context.AfterFunc(ctx, cancel)
		o := o
		ended := make(chan int, 1)
		o.Ended = func(exit int) { ended <- exit }
		output := &boundedBuffer{}
		var exit int
		var err error
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			exit, err = shell.Run(jobs, o, script, output, output)
		}()
		leave := func() {
			cancel()
			<-gone
		}
		select {
		case exit := <-ended:
			stop()
			return output.String(), leave, failed(exit)
		case <-gone:
			leave()
			if err == nil {
				err = failed(exit)
			}
			return output.String(), leave, err
		}
	}
}

func failed(exit int) error {
	if exit == 0 {
		return nil
	}
	return fmt.Errorf("exit status %d", exit)
}

// platformAccess writes a client's configuration as a kubeconfig, and says which address it leads to.
func platformAccess(c *rest.Config) (kubeconfig []byte, address string, err error) {
	c = rest.CopyConfig(c)
	if err := rest.LoadTLSFiles(c); err != nil {
		return nil, "", fmt.Errorf("read the platform's credentials: %w", err)
	}
	target, err := url.Parse(c.Host)
	if err != nil || target.Host == "" {
		return nil, "", fmt.Errorf("the cluster's address %q is no URL", c.Host)
	}
	const name = "platform"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   c.Host,
		TLSServerName:            c.ServerName,
		InsecureSkipTLSVerify:    c.Insecure,
		CertificateAuthorityData: c.CAData,
	}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: c.CertData,
		ClientKeyData:         c.KeyData,
		Token:                 c.BearerToken,
	}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	config.CurrentContext = name
	kubeconfig, err = clientcmd.Write(*config)
	if err != nil {
		return nil, "", fmt.Errorf("write the platform's kubeconfig: %w", err)
	}
	return kubeconfig, target.Host, nil
}

// A boundedBuffer keeps the end of what is written to it: of both of a script's outputs.
type boundedBuffer struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(p)
	p = p[max(0, n-maxScriptOutput):]
	if over := b.kept.Len() + len(p) - maxScriptOutput; over > 0 {
		b.kept.Next(over)
	}
	b.kept.Write(p)
	return n, nil
}

func (b *boundedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept.String()
}
