package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apilab/apilab/server/store"
)

func wrong() error { return store.ErrNotFound }
func right() error { return nil }

func TestAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAttempts()
		ctx := t.Context()
		try := func(address string, redeem func() error) (wait time.Duration) {
			t.Helper()
			var many *tooManyError
			if err := a.try(ctx, address, redeem); errors.As(err, &many) {
				return many.wait
			} else if !errors.Is(err, redeem()) {
				t.Errorf("%v, want what redeem returns", err)
			}
			return 0
		}
		for range 10 * addressFailures {
			if wait := try("192.0.2.1", right); wait > 0 {
				t.Fatalf("right codes wait %v", wait)
			}
		}
		for range addressFailures {
			if wait := try("192.0.2.1", wrong); wait > 0 {
				t.Fatalf("a wrong code waits %v too early", wait)
			}
		}
		if wait := try("192.0.2.1", right); wait <= 0 || wait > addressPause {
			t.Errorf("a right code after too many wrong ones waits %v, want up to %v", wait, addressPause)
		}
		if wait := try("192.0.2.2", right); wait > 0 {
			t.Errorf("another address waits %v", wait)
		}
		time.Sleep(addressPause)
		if wait := try("192.0.2.1", wrong); wait > 0 {
			t.Errorf("after the pause it waits %v", wait)
		}
		if wait := try("192.0.2.1", right); wait <= 0 {
			t.Error("one more wrong code, and it does not wait")
		}

		time.Sleep(time.Hour)
		for i := range allFailures { // from ever new addresses
			if wait := try(fmt.Sprintf("198.51.%d.%d", i/256, i%256), wrong); wait > 0 {
				t.Fatalf("wrong code %d of all waits %v", i, wait)
			}
		}
		if wait := try("203.0.113.1", right); wait <= 0 || wait > allPause {
			t.Errorf("after too many wrong codes of all it waits %v, want up to %v", wait, allPause)
		}
	})
}

func TestAttemptsTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	a := newAttempts()
	for i := range 3 * maxAddresses {
		a.failed(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32))
		if len(a.each) > maxAddresses {
			t.Fatalf("%d addresses are kept, want at most %d", len(a.each), maxAddresses)
		}
	}
}

func TestAttemptsAtATime(t *testing.T) {
	t.Parallel()
	a := newAttempts()
	begun, end := make(chan bool, maxAttempts+1), make(chan bool)
	for range maxAttempts {
		go a.try(context.Background(), "192.0.2.1", func() error { begun <- true; <-end; return nil })
		<-begun
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := a.try(ctx, "192.0.2.1", right); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more at a time: %v", err)
	}
	close(end)
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.1":            "192.0.2.1/32",
		"::ffff:192.0.2.1":     "192.0.2.1/32",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"fe80::1%eth0":         "fe80::/64",
	} {
		if got := network(address).String(); got != want {
			t.Errorf("%s counts as %s, want %s", address, got, want)
		}
	}
	if network("nonsense") != network("") {
		t.Error("what is no address does not count together")
	}
}

func TestForwardedAddresses(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}
	for name, tt := range map[string]struct {
		proxies       []netip.Prefix
		from, claimed string
		want          string
	}{
		"nobody is believed":        {nil, "10.0.0.5", "203.0.113.7", "10.0.0.5"},
		"loopback is not believed":  {proxies, "127.0.0.1", "203.0.113.7", "127.0.0.1"},
		"others are not believed":   {proxies, "10.0.1.5", "203.0.113.7", "10.0.1.5"},
		"the proxy is believed":     {proxies, "10.0.0.5", "203.0.113.7", "203.0.113.7"},
		"what came before it isn't": {proxies, "10.0.0.5", "198.51.100.1, 203.0.113.7", "203.0.113.7"},
		"two proxies":               {proxies, "10.0.0.5", "203.0.113.7, 10.0.0.6", "203.0.113.7"},
		"the proxy says nothing":    {proxies, "10.0.0.5", "", "10.0.0.5"},
	} {
		s := &Server{o: Options{Public: &Public{URL: &url.URL{}, Proxies: tt.proxies}}}
		r := &http.Request{RemoteAddr: net.JoinHostPort(tt.from, "1234"), Header: http.Header{}}
		if tt.claimed != "" {
			r.Header.Set("X-Forwarded-For", tt.claimed)
		}
		if got := s.addresses()(r); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
