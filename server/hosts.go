package server

import (
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// ownHosts refuses requests by a name that is not this server's, as loopbackOnly does and for the same reason. Beside the
// names that it was given it answers to loopback's, and to the address that a connection came to.
func (s *Server) ownHosts(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if host := c.Request().Host; !s.isOwn(host, c.Request()) {
			return refusal{code: http.StatusMisdirectedRequest, text: fmt.Sprintf(
				"This server does not answer to the name %q. Its address is %s; whoever started it can change that with --public-url.", host, s.o.Public.URL)}
		}
		return next(c)
	}
}

func (s *Server) isOwn(host string, r *http.Request) bool {
	if isLoopback(host) {
		return true
	}
	name := hostname(host)
	for _, own := range append([]string{s.o.Public.URL.Hostname()}, s.o.Public.Hosts...) {
		if strings.EqualFold(name, own) {
			return true
		}
	}
	// No name can be pointed at an address that is written as such.
	ip := net.ParseIP(name)
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && ip != nil && ip.Equal(local.IP)
}

// hostname is a host without its port and brackets.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// addresses finds out where requests come from: through the proxies that were named, and no others.
func (s *Server) addresses() echo.IPExtractor {
	if !s.isPublic() || len(s.o.Public.Proxies) == 0 {
		return echo.ExtractIPDirect()
	}
	trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, proxy := range s.o.Public.Proxies {
		trust = append(trust, echo.TrustIPRange(&net.IPNet{
			IP:   proxy.Addr().AsSlice(),
			Mask: net.CIDRMask(proxy.Bits(), proxy.Addr().BitLen()),
		}))
	}
	return echo.ExtractIPFromXFFHeader(trust...)
}
