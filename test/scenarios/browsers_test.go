package scenarios

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// browserKey is where a scenario's browsers are kept.
type browserKey string

// browse asks for a page as somebody's browser with their cookies, follows where that leads, and writes the page to stdout:
// browse WHO CODE ADDRESS, or with FIELD=VALUE… to send a form.
func browse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: browse WHO CODE ADDRESS [FIELD=VALUE…]")
	}
	client, ok := ts.Value(browserKey(args[0])).(*http.Client)
	if !ok {
		ts.Fatalf("nobody is called %s", args[0])
	}
	method, form := http.MethodGet, url.Values{}
	for _, field := range args[3:] {
		name, value, _ := strings.Cut(field, "=")
		method = http.MethodPost
		form.Add(name, value)
	}
	r, err := http.NewRequest(method, args[2], strings.NewReader(form.Encode()))
	ts.Check(err)
	r.Header.Set("Accept", "text/html")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := client.Do(r)
	ts.Check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	ts.Check(err)
	_, err = ts.Stdout().Write(body)
	ts.Check(err)
	if strconv.Itoa(response.StatusCode) != args[1] {
		ts.Fatalf("%s: %s, want %s", response.Request.URL, response.Status, args[1])
	}
}

// find puts what the group of a pattern matches in a file into a variable: find VARIABLE PATTERN FILE.
func find(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: find VARIABLE PATTERN FILE")
	}
	pattern, err := regexp.Compile(args[1])
	ts.Check(err)
	found := pattern.FindStringSubmatch(ts.ReadFile(args[2]))
	if len(found) != 2 {
		ts.Fatalf("nothing is like %s", args[1])
	}
	ts.Setenv(args[0], html.UnescapeString(found[1]))
}

// people gives browsers to those whom scenarios speak of.
func people(values map[any]any) error {
	for _, who := range []string{"admin", "instructor", "ada", "bob", "eve"} {
		jar, err := cookiejar.New(nil)
		if err != nil {
			return fmt.Errorf("give %s a browser: %w", who, err)
		}
		values[browserKey(who)] = &http.Client{Jar: jar, Timeout: patience}
	}
	return nil
}
