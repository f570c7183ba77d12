package tools

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/apilab/apilab/shell/localhost"
)

func init() {
	register("curl", Tool{"[-sSvikNfLG] [-X METHOD] [-d DATA] [-H HEADER] [-o FILE] [-w FORMAT] URL...", "send HTTP requests to localhost and to your API server", curl})
}

// curl's exit statuses.
const (
	curlBadURL  Status = 3
	curlNoHost  Status = 6
	curlNoReach Status = 7
	curlHTTP    Status = 22
	curlWrite   Status = 23
	curlRead    Status = 26
	curlTimeout Status = 28
	curlTLS     Status = 60
)

type curlRun struct {
	c                                           *Call
	silent, showErr, verbose, include, insecure bool
	fail, failBody, location, get, head, remote bool
	method, output, format, user, agent, upload string
	dumpHeader, ca, cert, key                   string
	http2, compressed                           bool
	max, connect                                time.Duration
	header                                      http.Header
	host                                        string
	drop                                        []string
	body                                        []byte
	hasBody                                     bool
	sent                                        time.Time
	connected, tlsDone, first                   time.Duration
}

func curl(ctx context.Context, c *Call) error {
	r := &curlRun{c: c, header: http.Header{}}
	f := c.flags()
	f.BoolVarP(&r.silent, "silent", "s", false, "no errors")
	f.BoolVarP(&r.showErr, "show-error", "S", false, "errors even with -s")
	f.BoolVarP(&r.verbose, "verbose", "v", false, "show what is sent and received")
	f.BoolVarP(&r.include, "include", "i", false, "print the response's headers")
	f.BoolVarP(&r.head, "head", "I", false, "send HEAD")
	f.BoolVarP(&r.insecure, "insecure", "k", false, "trust any certificate")
	f.BoolVarP(&r.fail, "fail", "f", false, "fail on HTTP errors, without their text")
	f.BoolVar(&r.failBody, "fail-with-body", false, "fail on HTTP errors")
	f.BoolVarP(&r.location, "location", "L", false, "follow redirects")
	f.BoolVarP(&r.get, "get", "G", false, "send -d as a query")
	f.BoolVarP(&r.remote, "remote-name", "O", false, "write to a file named as the URL's")
	f.BoolVar(&r.http2, "http2", false, "use HTTP/2")
	f.BoolVar(&r.compressed, "compressed", false, "ask for gzip")
	f.StringVarP(&r.method, "request", "X", "", "method")
	f.StringVarP(&r.output, "output", "o", "", "file to write")
	f.StringVarP(&r.format, "write-out", "w", "", "print this in the end, e.g. '%{http_code}\\n'")
	f.StringVarP(&r.user, "user", "u", "", "NAME:PASSWORD")
	f.StringVarP(&r.agent, "user-agent", "A", "curl/8.14.1", "user agent")
	f.StringVarP(&r.upload, "upload-file", "T", "", "file to PUT")
	f.StringVarP(&r.dumpHeader, "dump-header", "D", "", "file for the response's headers")
	f.StringVar(&r.ca, "cacert", "", "file of certificates to trust")
	f.StringVarP(&r.cert, "cert", "E", "", "client certificate")
	f.StringVar(&r.key, "key", "", "client key")
	f.yes("no-buffer", "N", "ignored: always")
	f.yes("no-progress-meter", "", "ignored: always")
	f.yes("progress-bar", "#", "ignored")
	f.yes("globoff", "g", "ignored: always")
	f.yes("http1.1", "", "use HTTP/1.1")
	f.yes("path-as-is", "", "ignored")
	f.String("retry", "", "ignored")
	headers := f.StringArrayP("header", "H", nil, "header, 'NAME: VALUE'")
	data := f.StringArrayP("data", "d", nil, "body, @FILE for a file's")
	binary := f.StringArray("data-binary", nil, "body as it is")
	rawData := f.StringArray("data-raw", nil, "body, @ means nothing")
	encode := f.StringArray("data-urlencode", nil, "body, encoded")
	jsonData := f.StringArray("json", nil, "JSON body")
	bearer := f.String("oauth2-bearer", "", "bearer token")
	urls := f.StringArray("url", nil, "URL")
	maxTime, connect := f.StringP("max-time", "m", "", "seconds for all"), f.String("connect-timeout", "", "seconds for connecting")
	unix := f.String("unix-socket", "", "refused")
	proxy := f.StringP("proxy", "x", "", "refused")
	config := f.StringP("config", "K", "", "refused")
	args, err := f.parse()
	if err != nil {
		return err
	}
	if *unix+*proxy+*config != "" {
		return usagef("--unix-socket, --proxy and --config are not available here")
	}
	for _, t := range []struct {
		text string
		to   *time.Duration
	}{{*maxTime, &r.max}, {*connect, &r.connect}} {
		if t.text != "" {
			if *t.to, err = duration(t.text); err != nil {
				return err
			}
		}
	}
	if err := r.headers(*headers); err != nil {
		return err
	}
	if *bearer != "" {
		r.header.Set("Authorization", "Bearer "+*bearer)
	}
	if err := r.bodies(*data, *binary, *rawData, *encode, *jsonData); err != nil {
		return err
	}
	args = append(*urls, args...)
	if len(args) == 0 {
		return usagef("needs a URL")
	}
	var failed error
	for _, u := range args {
		if err := r.one(ctx, u); err != nil {
			var s Status
			if !errors.As(err, &s) || ctx.Err() != nil {
				return err
			}
			failed = s
		}
	}
	return failed
}

func (r *curlRun) headers(list []string) error {
	for _, h := range list {
		if name, ok := strings.CutPrefix(h, "@"); ok {
			text, err := r.c.Host.FS.ReadFile(r.c.path(name), 1<<20)
			if err != nil {
				return typed(name, err)
			}
			if err := r.headers(strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })); err != nil {
				return err
			}
			continue
		}
		name, value, ok := strings.Cut(h, ":")
		name, value = textproto.TrimString(name), textproto.TrimString(value)
		switch {
		case !ok && strings.HasSuffix(name, ";"):
			r.header.Set(strings.TrimSuffix(name, ";"), "")
		case !ok:
			return usagef("a header is NAME: VALUE, not %q", h)
		case value == "":
			r.drop = append(r.drop, textproto.CanonicalMIMEHeaderKey(name))
		case strings.EqualFold(name, "host"):
			r.host = value
		default:
			r.header.Add(name, value)
		}
	}
	return nil
}

// bodies joins the bodies given, as curl does: forms by &, JSON as it is.
func (r *curlRun) bodies(data, binary, raw, encode, jsons []string) error {
	var parts [][]byte
	read := func(v string, strip bool) error {
		name, ok := strings.CutPrefix(v, "@")
		if !ok {
			parts = append(parts, []byte(v))
			return nil
		}
		f, err := r.c.open(name)
		if err != nil {
			fmt.Fprintf(r.c.Stderr, "curl: (26) %s\n", describe(err))
			return curlRead
		}
		defer f.Close()
		text, err := readAll(f)
		if strip {
			text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r"), nil), []byte("\n"), nil)
		}
		parts = append(parts, text)
		return err
	}
	for _, v := range data {
		if err := read(v, true); err != nil {
			return err
		}
	}
	for _, v := range binary {
		if err := read(v, false); err != nil {
			return err
		}
	}
	for _, v := range raw {
		parts = append(parts, []byte(v))
	}
	for _, v := range encode {
		name, value, ok := strings.Cut(v, "=")
		if !ok {
			name, value = "", v
		}
		if name != "" {
			name += "="
		}
		parts = append(parts, []byte(name+url.QueryEscape(value)))
	}
	r.body = bytes.Join(parts, []byte("&"))
	if len(jsons) > 0 {
		parts = nil
		for _, v := range jsons {
			if err := read(v, false); err != nil {
				return err
			}
		}
		r.body = bytes.Join(parts, nil)
		r.defaultHeader("Content-Type", "application/json")
		r.defaultHeader("Accept", "application/json")
	}
	r.hasBody = len(parts) > 0
	return nil
}

func (r *curlRun) defaultHeader(name, value string) {
	if r.header.Get(name) == "" && !slices.Contains(r.drop, name) {
		r.header.Set(name, value)
	}
}

func (r *curlRun) one(ctx context.Context, text string) error {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return r.failed(curlBadURL, "URL rejected: "+text)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return r.failed(1, fmt.Sprintf("Protocol %q not supported", u.Scheme))
	}
	if u.Path == "" {
		u.Path = "/"
	}
	req, err := r.request(ctx, u)
	if err != nil {
		return err
	}
	if r.max > 0 {
		mctx, cancel := context.WithTimeout(ctx, r.max)
		defer cancel()
		req = req.WithContext(mctx)
	}
	tr, err := r.transport()
	if err != nil {
		return err
	}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if !r.location || len(via) > 30 {
			return http.ErrUseLastResponse
		}
		r.showRequest(next)
		return nil
	}}
	r.sent = time.Now()
	r.connected, r.tlsDone, r.first = 0, 0, 0
	resp, err := client.Do(req)
	if err != nil {
		return r.explain(ctx, u, err)
	}
	defer resp.Body.Close()
	r.first = time.Since(r.sent)
	n, err := r.receive(u, resp)
	r.writeOut(u, resp, n)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, syscall.EPIPE) {
			return Broken
		}
		return r.explain(ctx, u, err)
	}
	if resp.StatusCode >= 400 && (r.fail || r.failBody) {
		return r.failed(curlHTTP, fmt.Sprintf("The requested URL returned error: %d", resp.StatusCode))
	}
	return nil
}

func (r *curlRun) request(ctx context.Context, u *url.URL) (*http.Request, error) {
	method := "GET"
	var body io.Reader
	switch {
	case r.upload != "":
		method = "PUT"
		f, err := r.c.open(r.upload)
		if err != nil {
			return nil, r.failed(curlRead, describe(err))
		}
		defer f.Close()
		text, err := readAll(f)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	case r.hasBody && r.get:
		if u.RawQuery != "" {
			u.RawQuery += "&"
		}
		u.RawQuery += string(r.body)
	case r.hasBody:
		method, body = "POST", bytes.NewReader(r.body)
		r.defaultHeader("Content-Type", "application/x-www-form-urlencoded")
	}
	if r.head {
		method = "HEAD"
	}
	if r.method != "" {
		method = r.method
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, r.failed(curlBadURL, err.Error())
	}
	req.Header = r.header.Clone()
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", r.agent)
	}
	if req.Header.Get("Accept") == "" && !slices.Contains(r.drop, "Accept") {
		req.Header.Set("Accept", "*/*")
	}
	for _, name := range r.drop {
		req.Header.Del(name)
		if name == "User-Agent" {
			req.Header.Set("User-Agent", "")
		}
	}
	req.Host = r.host
	if r.user != "" {
		req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(r.user)))
	} else if u.User != nil {
		p, _ := u.User.Password()
		req.SetBasicAuth(u.User.Username(), p)
	}
	return req, nil
}

// transport dials the learner's own ports and their API server, nothing else, and resolves no name.
func (r *curlRun) transport() (*http.Transport, error) {
	conf := &tls.Config{InsecureSkipVerify: r.insecure}
	conf.RootCAs = x509.NewCertPool() // none of the host's: there is no other server than the learner's
	if r.ca != "" {
		pem, err := r.c.Host.FS.ReadFile(r.c.path(r.ca), 1<<20)
		if err != nil {
			return nil, typed(r.ca, err)
		}
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, r.failed(77, "error setting certificate verify locations: "+r.ca+" holds no certificate")
		}
	}
	if r.cert != "" {
		pem, err := r.c.Host.FS.ReadFile(r.c.path(r.cert), 1<<20)
		if err != nil {
			return nil, typed(r.cert, err)
		}
		key := pem
		if r.key != "" {
			if key, err = r.c.Host.FS.ReadFile(r.c.path(r.key), 1<<20); err != nil {
				return nil, typed(r.key, err)
			}
		}
		pair, err := tls.X509KeyPair(pem, key)
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	return &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			if r.connect > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, r.connect)
				defer cancel()
			}
			conn, err := r.c.Host.Dial(ctx, addr)
			r.connected = time.Since(r.sent)
			if err == nil && r.verbose {
				host, port, _ := net.SplitHostPort(addr)
				fmt.Fprintf(r.c.Stderr, "* Connected to %s port %s\n", host, port)
			}
			return conn, err
		},
		TLSClientConfig:    conf,
		DisableCompression: !r.compressed,
		ForceAttemptHTTP2:  r.http2,
		DisableKeepAlives:  true,
		ReadBufferSize:     32 << 10,
	}, nil
}

// Dial connects to the learner's API server or to one of their ports. All other hosts do not exist.
func (h *Host) Dial(ctx context.Context, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, err
	}
	if h.Gateway != "" && addr == h.Gateway || localhost.Is(host) && h.Gateway != "" && strings.HasSuffix(h.Gateway, ":"+port) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", h.Gateway)
	}
	if !localhost.Is(host) {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return h.Ports.Dial(ctx, n)
}

func (r *curlRun) failed(s Status, text string) error {
	if !r.silent || r.showErr {
		fmt.Fprintf(r.c.Stderr, "curl: (%d) %s\n", int(s), text)
	}
	return s
}

func (r *curlRun) explain(ctx context.Context, u *url.URL, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var verify *tls.CertificateVerificationError
	switch {
	case errors.As(err, &dns):
		return r.failed(curlNoHost, fmt.Sprintf("Could not resolve host: %s (only localhost and your API server can be reached from here)", u.Hostname()))
	case errors.Is(err, syscall.ECONNREFUSED):
		why := "nothing of yours listens there"
		if port == "8001" {
			why += "; `kubectl proxy --port=8001 &` starts the proxy to your API server"
		}
		return r.failed(curlNoReach, fmt.Sprintf("Failed to connect to %s port %s: Connection refused (%s)", u.Hostname(), port, why))
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return r.failed(curlTimeout, fmt.Sprintf("Operation timed out after %d milliseconds", time.Since(r.sent).Milliseconds()))
	case errors.As(err, &unknown), errors.As(err, &name), errors.As(err, &verify):
		return r.failed(curlTLS, fmt.Sprintf("SSL certificate problem: %v (-k trusts any, --cacert FILE trusts yours)", err))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return r.failed(52, "Empty reply from server")
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return r.failed(56, err.Error())
}

func (r *curlRun) showRequest(req *http.Request) {
	if !r.verbose {
		return
	}
	host := req.Host
	if host == "" {
		host = req.URL.Host
	}
	fmt.Fprintf(r.c.Stderr, "> %s %s HTTP/1.1\n> Host: %s\n", req.Method, req.URL.RequestURI(), host)
	writeHeader(r.c.Stderr, "> ", req.Header, "\n")
	fmt.Fprint(r.c.Stderr, "> \n")
}

func writeHeader(w io.Writer, prefix string, h http.Header, end string) {
	var names []string
	for n := range h {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		for _, v := range h[n] {
			fmt.Fprintf(w, "%s%s: %s%s", prefix, n, v, end)
		}
	}
}

func (r *curlRun) receive(u *url.URL, resp *http.Response) (int64, error) {
	if r.verbose {
		r.showRequest(resp.Request)
		fmt.Fprintf(r.c.Stderr, "< %s %s\n", resp.Proto, resp.Status)
		writeHeader(r.c.Stderr, "< ", resp.Header, "\n")
		fmt.Fprint(r.c.Stderr, "< \n")
	}
	out := r.c.Stdout
	name := r.output
	if r.remote {
		name = path.Base(u.Path)
	}
	if name != "" && name != "-" {
		file, err := r.c.create(name, false)
		if err != nil {
			return 0, r.failed(curlWrite, describe(err))
		}
		defer file.Close()
		out = file
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "%s %s\r\n", resp.Proto, resp.Status)
	writeHeader(&head, "", resp.Header, "\r\n")
	head.WriteString("\r\n")
	if r.dumpHeader != "" {
		if r.dumpHeader == "-" {
			r.c.Stdout.Write(head.Bytes())
		} else if err := r.c.Host.FS.WriteFile(r.c.path(r.dumpHeader), head.Bytes(), 0o644); err != nil {
			return 0, r.failed(curlWrite, describe(err))
		}
	}
	if r.include || r.head {
		if _, err := out.Write(head.Bytes()); err != nil {
			return 0, err
		}
	}
	if resp.StatusCode >= 400 && r.fail {
		return 0, nil
	}
	return io.Copy(writerOnly{out}, resp.Body)
}

func (r *curlRun) writeOut(u *url.URL, resp *http.Response, n int64) {
	if r.format == "" {
		return
	}
	format := r.format
	if name, ok := strings.CutPrefix(format, "@"); ok {
		text, err := r.c.Host.FS.ReadFile(r.c.path(name), 1<<20)
		if err != nil {
			r.c.warn(typed(name, err))
			return
		}
		format = string(text)
	}
	sec := func(d time.Duration) string { return fmt.Sprintf("%.6f", d.Seconds()) }
	vars := map[string]string{
		"http_code": fmt.Sprintf("%03d", resp.StatusCode), "response_code": fmt.Sprintf("%03d", resp.StatusCode),
		"content_type": resp.Header.Get("Content-Type"), "size_download": fmt.Sprint(n), "size_upload": fmt.Sprint(len(r.body)),
		"time_total": sec(time.Since(r.sent)), "time_starttransfer": sec(r.first), "time_connect": sec(r.connected), "time_namelookup": sec(0),
		"time_appconnect": sec(r.tlsDone), "url": u.String(), "url_effective": resp.Request.URL.String(), "method": resp.Request.Method,
		"redirect_url": resp.Header.Get("Location"), "http_version": fmt.Sprintf("%d.%d", resp.ProtoMajor, resp.ProtoMinor),
		"num_redirects": "0", "scheme": strings.ToUpper(u.Scheme), "remote_port": u.Port(), "remote_ip": "127.0.0.1", "exitcode": "0",
	}
	var out strings.Builder
	for format != "" {
		before, rest, ok := strings.Cut(format, "%{")
		out.WriteString(before)
		if !ok {
			break
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok {
			out.WriteString("%{" + rest)
			break
		}
		if h, ok := strings.CutPrefix(name, "header{"); ok {
			out.WriteString(resp.Header.Get(h))
			after = strings.TrimPrefix(after, "}")
		} else {
			out.WriteString(vars[name])
		}
		format = after
	}
	io.WriteString(r.c.Stdout, strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(out.String()))
}
