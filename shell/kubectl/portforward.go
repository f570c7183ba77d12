package kubectl

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	streamportforward "k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/kubectl/pkg/cmd/portforward"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	streamhttp "k8s.io/streaming/pkg/httpstream"
)

// portForward is `kubectl port-forward` on the learner's own localhost.
func (k *confined) portForward(f cmdutil.Factory, c *cobra.Command, args []string) error {
	conf, err := f.ToRESTConfig()
	if err != nil {
		return err
	}
	if err := k.upgrades(conf); err != nil {
		return err
	}
	o := portforward.NewDefaultPortForwardOptions(k.streams)
	o.Address, _ = c.Flags().GetStringSlice("address")
	o.PortForwarder = k
	if err := o.Complete(f, c, args); err != nil {
		return err
	}
	if err := o.Validate(); err != nil {
		return err
	}
	return o.RunPortForwardContext(c.Context())
}

// ForwardPorts implements what kubectl asks of a forwarder: it opens the connection to the pod and listens.
func (k *confined) ForwardPorts(method string, target *url.URL, o portforward.PortForwardOptions) error {
	transport, upgrader, err := spdy.RoundTripperFor(o.Config)
	if err != nil {
		return err
	}
	dialer := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, method, target)
	if tunnel, err := streamportforward.NewSPDYOverWebsocketDialerForStreaming(target, o.Config); err == nil {
		dialer = streamportforward.NewFallbackDialerForStreaming(tunnel, dialer, func(err error) bool {
			return streamhttp.IsUpgradeFailure(err) || streamhttp.IsHTTPSProxyError(err)
		})
	}
	conn, _, err := dialer.Dial(streamportforward.PortForwardProtocolV1Name)
	if err != nil {
		return fmt.Errorf("error upgrading connection: %w", err)
	}
	defer conn.Close()
	fw := &forwarder{k: k, conn: conn}
	for _, port := range o.Ports {
		if err := fw.listen(port); err != nil {
			return err
		}
	}
	close(o.ReadyChannel)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	defer signal.Stop(stop)
	select {
	case <-stop:
	case <-o.StopChannel:
	case <-conn.CloseChan():
		return fmt.Errorf("lost connection to pod")
	}
	return nil
}

// forwarder carries connections to ports of one pod over one connection to the API server.
type forwarder struct {
	k    *confined
	conn streamhttp.Connection
	id   atomic.Int64
}

func (f *forwarder) listen(spec string) error {
	local, remote, ok := strings.Cut(spec, ":")
	if !ok {
		remote = local
	}
	if local == "" {
		local = "0"
	}
	port, err := strconv.Atoi(local)
	if err != nil {
		return fmt.Errorf("invalid port: %q", spec)
	}
	l, err := f.k.ports.Listen(port)
	if err != nil {
		return err
	}
	fmt.Fprintf(f.k.streams.Out, "Forwarding from %s -> %s\n", l.Addr(), remote)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go f.forward(conn, l.Addr(), remote)
		}
	}()
	return nil
}

// forward carries one connection: a stream of data and one for an error, as the protocol portforward.k8s.io wants.
func (f *forwarder) forward(local net.Conn, from net.Addr, remote string) {
	defer local.Close()
	fmt.Fprintf(f.k.streams.Out, "Handling connection for %d\n", from.(*net.TCPAddr).Port)
	h := http.Header{}
	h.Set(corev1.StreamType, corev1.StreamTypeError)
	h.Set(corev1.PortHeader, remote)
	h.Set(corev1.PortForwardRequestIDHeader, strconv.FormatInt(f.id.Add(1), 10))
	errs, err := f.conn.CreateStream(h)
	if err != nil {
		fmt.Fprintf(f.k.streams.ErrOut, "error creating error stream for port %s: %v\n", remote, err)
		return
	}
	errs.Close() // nothing is written to it
	defer f.conn.RemoveStreams(errs)
	h.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := f.conn.CreateStream(h)
	if err != nil {
		fmt.Fprintf(f.k.streams.ErrOut, "error creating forwarding stream for port %s: %v\n", remote, err)
		return
	}
	defer f.conn.RemoveStreams(data)
	var wg sync.WaitGroup
	wg.Go(func() {
		if text, err := io.ReadAll(io.LimitReader(errs, 4096)); err == nil && len(text) > 0 {
			fmt.Fprintf(f.k.streams.ErrOut, "an error occurred forwarding to port %s: %s\n", remote, text)
			local.Close()
		}
	})
	done := make(chan struct{})
	go func() {
		io.Copy(local, data)
		close(done)
	}()
	go func() {
		io.Copy(data, local)
		data.Close()
	}()
	<-done
	data.Reset()
	wg.Wait() // the error may come after the end of the data; with nothing to tell, the stream ends
	errs.Reset()
}
