// Package browser is to apilab what a browser is, for programs that measure it from outside: cookies, pages, and the page's
// websocket. It draws nothing, and knows nothing of what is measured.
package browser

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
)

// A Browser asks one server for pages, and keeps its cookies.
type Browser struct {
	base   *url.URL
	client *http.Client
}

// New returns a browser without cookies, for the server at an address such as "http://127.0.0.1:8484".
func New(base string) (*Browser, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	return &Browser{base: u, client: &http.Client{Jar: jar, Transport: &http.Transport{MaxIdleConnsPerHost: 6}}}, nil
}

// Trust has it believe servers whose certificates these authorities signed. It is called before the first page.
func (b *Browser) Trust(authorities *x509.CertPool) {
	b.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: authorities}
}

// An Answer is a page that was got.
type Answer struct {
	URL  *url.URL // where redirects led to
	Body []byte
}

// Get asks for a page, by an address or a path of the server. Anything but success is an error.
func (b *Browser) Get(ctx context.Context, path string) (Answer, error) {
	return b.do(ctx, http.MethodGet, path, nil)
}

// Post sends a form.
func (b *Browser) Post(ctx context.Context, path string, form url.Values) (Answer, error) {
	return b.do(ctx, http.MethodPost, path, form)
}

func (b *Browser) do(ctx context.Context, method, path string, form url.Values) (Answer, error) {
	u, err := b.base.Parse(path)
	if err != nil {
		return Answer{}, err
	}
	r, err := http.NewRequestWithContext(ctx, method, u.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return Answer{}, err
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.origin())
	}
	response, err := b.client.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("read %s: %w", u.Path, err)
	}
	if response.StatusCode != http.StatusOK {
		return Answer{}, fmt.Errorf("%s %s: %s", method, u.Path, response.Status)
	}
	return Answer{URL: response.Request.URL, Body: body}, nil
}

func (b *Browser) origin() string { return b.base.Scheme + "://" + b.base.Host }

// Close lets go of its connections; cookies stay.
func (b *Browser) Close() { b.client.CloseIdleConnections() }
