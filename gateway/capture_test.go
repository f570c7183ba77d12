package gateway

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	w := gzip.NewWriter(&buffer)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// protobuf encodes an object as API servers and clients do.
func protobuf(t *testing.T, object runtime.Object) []byte {
	t.Helper()
	var buffer bytes.Buffer
	if err := protobufserializer.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, &buffer); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

func TestCapture(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body      string
		announced int64
		want      string
	}{
		"announced":            {"0123456789", 10, "0123456789"},
		"chunked":              {"0123456789", -1, "0123456789"},
		"too large":            {"0123456789x", 11, ""},
		"too large, chunked":   {"0123456789x", -1, ""},
		"empty":                {"", 0, ""},
		"shorter than it said": {"01234", 10, "01234"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := 0
			c := newCapture(io.NopCloser(strings.NewReader(tt.body)), tt.announced, 10, func() { ended++ })
			if c.data() != nil {
				t.Error("there is data before the end")
			}
			if passed, err := io.ReadAll(c); string(passed) != tt.body || err != nil {
				t.Errorf("passed %q, %v", passed, err)
			}
			if string(c.data()) != tt.want || ended != 1 {
				t.Errorf("kept %q, want %q; ended %d times", c.data(), tt.want, ended)
			}
		})
	}
}

func TestAsJSON(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ body, contentType, want string }{
		"JSON":                {`{"a":1}`, "application/json", `{"a":1}`},
		"patch":               {`[{"op":"remove"}]`, "application/json-patch+json; charset=utf-8", `[{"op":"remove"}]`},
		"YAML":                {"a: [1, b]\n", "application/yaml", `{"a":[1,"b"]}`},
		"apply":               {"a: 1\n", "application/apply-patch+yaml", `{"a":1}`},
		"JSON called YAML":    {`{"a": 1}`, "application/apply-patch+yaml", `{"a": 1}`},
		"no content type":     {`{"a":1}`, "", `{"a":1}`},
		"broken JSON":         {`{"a":`, "application/json", ""},
		"broken YAML":         {"a: [", "application/yaml", ""},
		"YAML that explodes":  {"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b]\n", "application/yaml", ""},
		"protobuf":            {"k8s\x00", "application/vnd.kubernetes.protobuf", ""},
		"built-in kind":       {string(protobuf(t, &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}})), "application/vnd.kubernetes.protobuf", `{"kind":"Status","apiVersion":"v1","metadata":{}}`},
		"text":                {`{}`, "text/plain", ""},
		"empty":               {"", "application/json", ""},
		"broken content type": {`{}`, "application/json; =", `{}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := asJSON([]byte(tt.body), tt.contentType, 100); string(got) != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDecoded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		data     []byte
		encoding string
		want     string
	}{
		"plain":        {[]byte("x"), "", "x"},
		"gzip":         {gzipped(t, "hello"), "gzip", "hello"},
		"too large":    {gzipped(t, strings.Repeat("x", 1000)), "gzip", ""},
		"truncated":    {gzipped(t, "hello")[:12], "gzip", ""},
		"not gzip":     {[]byte("x"), "gzip", ""},
		"unknown kind": {[]byte("x"), "br", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := decoded(tt.data, tt.encoding, 100); string(got) != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	status := protobuf(t, &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Reason:   "NotFound", Message: "no such thing", Code: 404,
	})
	for name, tt := range map[string]struct {
		code        int
		contentType string
		body        string
		want        Status
	}{
		"JSON":          {404, "application/json", `{"kind":"Status","reason":"NotFound","message":"no such thing"}`, Status{404, "NotFound", "no such thing"}},
		"protobuf":      {404, "application/vnd.kubernetes.protobuf", string(status), Status{404, "NotFound", "no such thing"}},
		"text":          {404, "text/plain; charset=utf-8", "404 page not found\n", Status{404, "", "404 page not found"}},
		"another kind":  {500, "application/json", `{"kind":"Pod","reason":"Evicted"}`, Status{500, "", ""}},
		"nothing":       {502, "", "", Status{502, "", ""}},
		"half protobuf": {404, "application/vnd.kubernetes.protobuf", "k8s\x00\x0a", Status{404, "", ""}},
		"of an event":   {0, "application/json", `{"kind":"Status","code":410,"reason":"Expired"}`, Status{410, "Expired", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := outcome(tt.code, tt.contentType, []byte(tt.body)); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
