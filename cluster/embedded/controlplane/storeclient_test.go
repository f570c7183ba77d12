package controlplane

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apiserver/pkg/storage/storagebackend"
)

// Many watches end at once, as when many definitions go, while there is much to tell: those that stay, and new ones, are
// told on.
func TestWatchesGoOnWhenManyEnd(t *testing.T) {
	t.Chdir(t.TempDir())
	e, _ := start(t)
	e.connectInside(t.Context(), 64<<20)
	store, err := newStoreClient(storagebackend.TransportConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	writing, stop := context.WithCancel(ctx)
	defer stop()
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 0; writing.Err() == nil; i++ {
				_, _ = store.Put(writing, fmt.Sprintf("/busy/%d/%d", w, i%10), "x")
			}
		})
	}
	stays := store.Watch(ctx, "/stays", clientv3.WithPrefix())
	for round := range 30 {
		ending, end := context.WithCancel(ctx)
		for range 100 {
			watch := store.Watch(ending, "/busy", clientv3.WithPrefix())
			go func() {
				for range watch {
				}
			}()
		}
		end()
		added := store.Watch(ctx, "/stays", clientv3.WithPrefix())
		if _, err := store.Put(ctx, "/stays/it", fmt.Sprint(round)); err != nil {
			t.Fatal(err)
		}
		for name, watch := range map[string]clientv3.WatchChan{"that stays": stays, "that is new": added} {
			select {
			case response := <-watch:
				if len(response.Events) != 1 || string(response.Events[0].Kv.Value) != fmt.Sprint(round) {
					t.Fatalf("round %d: the watch %s is told %+v", round, name, response)
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("round %d: the watch %s is told nothing", round, name)
			}
		}
	}
	stop()
	writers.Wait()
}

// Etcd tells how far a stream is only while all of its watches are up to date, and the API server needs to know it to end
// a list that goes on as a watch: a resource type does not wait for what others have to catch up with.
func TestProgressDoesNotWaitForOtherTypes(t *testing.T) {
	t.Chdir(t.TempDir())
	e, _ := start(t)
	e.connectInside(t.Context(), 64<<20)
	busy, err := newStoreClient(storagebackend.TransportConfig{})
	if err != nil {
		t.Fatal(err)
	}
	quiet, err := newStoreClient(storagebackend.TransportConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	first, err := busy.Put(ctx, "/busy/0", "x")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if _, err := busy.Put(ctx, fmt.Sprintf("/busy/%d", i%10), "x"); err != nil {
			t.Fatal(err)
		}
	}
	var catchingUp sync.WaitGroup
	catchingUp.Go(func() { // always some watch
		for ctx.Err() == nil {
			watching, end := context.WithCancel(ctx)
			for watch := range 4 {
				busy.Watch(watching, fmt.Sprintf("/busy/%d", watch), clientv3.WithRev(first.Header.Revision))
			}
			time.Sleep(20 * time.Millisecond)
			end()
		}
	})
	told := quiet.Watch(ctx, "/quiet", clientv3.WithPrefix(), clientv3.WithProgressNotify())
	const asked, enough = 30, 25 // the first ones may come before the watch is
	for range asked {
		if err := quiet.RequestProgress(ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // as often as the API server asks
	}
	patience := time.After(30 * time.Second)
	for notices := 0; notices < enough; {
		select {
		case response := <-told:
			if response.IsProgressNotify() {
				notices++
			}
		case <-patience:
			t.Fatalf("told %d times how far it is, having asked %d times", notices, asked)
		}
	}
	stop()
	catchingUp.Wait()
}
