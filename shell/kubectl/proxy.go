package kubectl

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/proxy"
)

// proxy is `kubectl proxy` on the learner's own localhost. Its flags are kubectl's.
func (k *confined) proxy(f cmdutil.Factory, c *cobra.Command) error {
	conf, err := f.ToRESTConfig()
	if err != nil {
		return err
	}
	text := func(name string) string { v, _ := c.Flags().GetString(name); return v }
	port, err := c.Flags().GetInt("port")
	if err != nil {
		return err
	}
	off, _ := c.Flags().GetBool("disable-filter")
	keepalive, _ := c.Flags().GetDuration("keepalive")
	appendPath, _ := c.Flags().GetBool("append-server-path")
	slash := func(s string) string { return strings.TrimSuffix(s, "/") + "/" }
	var filter *proxy.FilterServer
	if off {
		klog.Warning("Request filter disabled, your proxy is vulnerable to XSRF attacks, please be cautious")
	} else {
		filter = &proxy.FilterServer{
			AcceptPaths:   proxy.MakeRegexpArrayOrDie(text("accept-paths")),
			RejectPaths:   proxy.MakeRegexpArrayOrDie(text("reject-paths")),
			AcceptHosts:   proxy.MakeRegexpArrayOrDie(text("accept-hosts")),
			RejectMethods: proxy.MakeRegexpArrayOrDie(text("reject-methods")),
		}
	}
	www := text("www")
	if www != "" {
		if www, err = k.tree(www); err != nil {
			return err
		}
	}
	server, err := proxy.NewServer(www, slash(text("api-prefix")), slash(text("www-prefix")), filter, conf, keepalive, appendPath)
	if err != nil {
		return err
	}
	l, err := k.ports.Listen(port)
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Fprintf(k.streams.Out, "Starting to serve on %s\n", l.Addr())
	if err := server.ServeOnListener(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}
