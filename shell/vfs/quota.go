package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// block is what a file costs at least, so that the quota bounds the number of files too.
const block = 4096

// fresh is how long a count of the files is good.
const fresh = time.Second

// quota bounds what the home holds. It counts what passes through this process, and counts the files themselves anew when
// the last count is old, the sum comes near the limit, or a lot was written: other processes write too, and files shrink and go.
type quota struct {
	limit int64
	root  string

	mu      sync.Mutex
	used    int64
	written int64 // since the last count
	freed   bool  // something was, since then
	counted time.Time
}

// A QuotaError says that the home is full. It is an ENOSPC.
type QuotaError struct{ Limit int64 }

func (e *QuotaError) Error() string {
	return fmt.Sprintf("no space left: your home may hold %d MiB, remove files that you no longer need", e.Limit>>20)
}

// Is makes it an ENOSPC to whoever asks.
func (e *QuotaError) Is(target error) bool { return target == syscall.ENOSPC }

func isQuota(err error) bool {
	var q *QuotaError
	return errors.As(err, &q)
}

// take counts n more bytes, or refuses them.
func (q *quota) take(n int64) error {
	if q.limit == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	full, age := q.used+n > q.limit, time.Since(q.counted)
	if age > fresh || q.written > q.limit/16 || full && (q.freed || q.written > 0 || age > 100*time.Millisecond) {
		q.count()
	}
	if q.used+n > q.limit {
		return &QuotaError{q.limit}
	}
	q.used += n
	q.written += n
	return nil
}

// full returns a *QuotaError if the home holds more than it may.
func (q *quota) full() error {
	if q.limit == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if time.Since(q.counted) > fresh || q.freed && q.used > q.limit {
		q.count()
	}
	if q.used > q.limit {
		return &QuotaError{q.limit}
	}
	return nil
}

// free is told that a file was made smaller, or is gone.
func (q *quota) free() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.freed = true
}

// count counts the files; mu is held.
func (q *quota) count() {
	q.used, q.written, q.freed, q.counted = size(q.root), 0, false, time.Now()
}

// size is the sum of all files below dir, each counted in whole blocks.
func size(dir string) int64 {
	var sum int64
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone meanwhile
		}
		sum += block
		if fi, err := d.Info(); err == nil && fi.Mode().IsRegular() {
			sum += (fi.Size() - 1) / block * block
		}
		return nil
	})
	return sum
}
