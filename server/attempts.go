package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/apilab/apilab/server/store"
)

const (
	// Wrong codes that an address may try at once, and how often one more. What it costs a class behind one address to have
	// someone guess among them is to wait as long.
	addressFailures, addressPause = 20, 3 * time.Second
	// Those of all addresses together. At this pace, a year finds one of ten open classes with a chance of 1 in 70.
	allFailures, allPause = 200, 200 * time.Millisecond
	maxAddresses          = 4096
	// maxAttempts bounds the codes that are looked up at a time: personal ones cost a processor some milliseconds.
	maxAttempts = 4
)

// attempts slow down who guesses codes, and nobody else: only failures count.
type attempts struct {
	now  func() time.Time
	busy chan struct{}

	mu   sync.Mutex
	all  *rate.Limiter
	each map[netip.Prefix]*rate.Limiter // of addresses that have failed
}

func newAttempts() *attempts {
	return &attempts{
		now:  time.Now,
		busy: make(chan struct{}, maxAttempts),
		all:  rate.NewLimiter(rate.Every(allPause), allFailures),
		each: make(map[netip.Prefix]*rate.Limiter),
	}
}

// A tooManyError says how long codes are not looked at, right ones neither.
type tooManyError struct{ wait time.Duration }

func (e *tooManyError) Error() string {
	return fmt.Sprintf("Too many wrong codes came from here. Try again in %d s.", e.seconds())
}

func (e *tooManyError) seconds() int { return int(math.Ceil(e.wait.Seconds())) }

// try redeems a code from an address. When redeem finds no such code (store.ErrNotFound), that counts as a failure; after
// too many the error is a *tooManyError, and redeem is not called.
func (a *attempts) try(ctx context.Context, address string, redeem func() error) error {
	select {
	case a.busy <- struct{}{}:
		defer func() { <-a.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	from := network(address)
	if wait := a.wait(from); wait > 0 {
		return &tooManyError{wait}
	}
	err := redeem()
	if errors.Is(err, store.ErrNotFound) {
		a.failed(from)
	}
	return err
}

// network is what counts as one address: who has one of IPv6 has 2⁶⁴ of them.
func network(address string) netip.Prefix {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return netip.Prefix{} // all that are none count together
	}
	ip = ip.Unmap().WithZone("")
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(ip, bits).Masked()
}

func (a *attempts) wait(from netip.Prefix) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	wait := untilOne(a.all, a.now())
	if l := a.each[from]; l != nil {
		wait = max(wait, untilOne(l, a.now()))
	}
	return wait
}

// untilOne is how long it takes until one more is allowed.
func untilOne(l *rate.Limiter, now time.Time) time.Duration {
	missing := 1 - l.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return time.Duration(missing / float64(l.Limit()) * float64(time.Second))
}

func (a *attempts) failed(from netip.Prefix) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.each[from]
	if l == nil {
		a.makeRoom()
		l = rate.NewLimiter(rate.Every(addressPause), addressFailures)
		a.each[from] = l
	}
	l.ReserveN(a.now(), 1) // also below zero, for those that were tried at the same time
	a.all.ReserveN(a.now(), 1)
}

// makeRoom forgets addresses that could fail as often as new ones; when there are none, all: the limit over all holds.
func (a *attempts) makeRoom() {
	if len(a.each) < maxAddresses {
		return
	}
	for from, l := range a.each {
		if l.TokensAt(a.now()) >= addressFailures {
			delete(a.each, from)
		}
	}
	if len(a.each) >= maxAddresses {
		clear(a.each)
	}
}
