package server

import (
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// The policy lets a page load only from here. The terminal sets its cells' colours and sizes by inline styles.
const contentSecurityPolicy = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"font-src 'self'; connect-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

func securityHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", contentSecurityPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		// Pages show a learner's own state. What may be kept says so itself.
		h.Set("Cache-Control", "no-store")
		return next(c)
	}
}

// loopbackOnly refuses requests by another name than this machine's own. A foreign site can point a name of its own at
// 127.0.0.1 (DNS rebinding); its pages would then count as ours.
func loopbackOnly(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if host := c.Request().Host; !isLoopback(host) {
			return refusal{code: http.StatusMisdirectedRequest, text: fmt.Sprintf(
				"This server answers only to the name of this machine, such as 127.0.0.1 or localhost, and not to %q. Open the address that apilab printed.", host)}
		}
		return next(c)
	}
}

// isLoopback tells whether a host, with or without a port, names this machine. Ports may differ: of a forwarded one.
func isLoopback(host string) bool {
	name := hostname(host)
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}

// sameOriginOnly refuses changes that a foreign page asks for.
func (s *Server) sameOriginOnly() echo.MiddlewareFunc {
	protection := http.NewCrossOriginProtection()
	if s.isPublic() {
		// Behind a proxy, the host that is asked for may be another than that of the page.
		if err := protection.AddTrustedOrigin(s.o.Public.origin()); err != nil {
			s.log.Error("trust the pages of the public address", "error", err)
		}
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if err := protection.Check(c.Request()); err != nil {
				return refusal{code: http.StatusForbidden, text: "This request came from a page that is not apilab's."}
			}
			return next(c)
		}
	}
}
