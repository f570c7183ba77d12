package server

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func TestPlatformAccess(t *testing.T) {
	t.Parallel()
	want := &rest.Config{
		Host:        "https://127.0.0.1:45678",
		BearerToken: "platform",
		TLSClientConfig: rest.TLSClientConfig{
			ServerName: "kubernetes", CAData: []byte("ca"), CertData: []byte("cert"), KeyData: []byte("key")},
	}
	file, address, err := platformAccess(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := clientcmd.RESTConfigFromKubeConfig(file)
	if err != nil {
		t.Fatal(err)
	}
	if address != "127.0.0.1:45678" || got.Host != want.Host || got.BearerToken != want.BearerToken || got.ServerName != want.ServerName ||
		!bytes.Equal(got.CAData, want.CAData) || !bytes.Equal(got.CertData, want.CertData) || !bytes.Equal(got.KeyData, want.KeyData) {
		t.Errorf("at %s: %+v", address, got)
	}
	for _, bad := range []*rest.Config{
		{Host: "127.0.0.1"},
		{Host: "https://x", TLSClientConfig: rest.TLSClientConfig{CAFile: "/nonexistent"}},
	} {
		if _, _, err := platformAccess(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

func TestBoundedBufferKeepsTheEnd(t *testing.T) {
	t.Parallel()
	b := &boundedBuffer{}
	for range 10 {
		if n, err := b.Write(bytes.Repeat([]byte("x"), maxScriptOutput/3)); n != maxScriptOutput/3 || err != nil {
			t.Fatalf("Write: %d, %v", n, err)
		}
	}
	if _, err := b.Write([]byte("the end")); err != nil {
		t.Fatal(err)
	}
	if len(b.String()) != maxScriptOutput || !strings.HasSuffix(b.String(), "xthe end") {
		t.Errorf("%d bytes are kept, the last are %q", len(b.String()), b.String()[len(b.String())-10:])
	}
	huge := append(bytes.Repeat([]byte("y"), 2*maxScriptOutput), 'z')
	if n, _ := b.Write(huge); n != len(huge) || len(b.String()) != maxScriptOutput || b.String()[len(b.String())-1] != 'z' {
		t.Errorf("after %d bytes at once: %d are kept", n, len(b.String()))
	}
}
