package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked is returned by Lock when another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// Lock takes the record lock on the file at path, which it makes if need be, for as long as this process lives. A
// record lock (fcntl(2)) and not flock, because the kernel names its holder: see Holder. The file must not be opened
// again by this process, since closing any descriptor of it gives the lock up.
func Lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	err = unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	if err != nil {
		f.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return nil, fmt.Errorf("%s: %w", path, ErrLocked)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}

// Holder returns the process that holds the lock at path, 0 if none does.
func Holder(path string) (pid int, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("open lock: %w", err)
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock); err != nil {
		return 0, fmt.Errorf("ask for the holder of %s: %w", path, err)
	}
	if lock.Type == unix.F_UNLCK {
		return 0, nil
	}
	return int(lock.Pid), nil
}

// KillHolder ends the process that holds the lock at path, if one does, and returns its ID when the lock is free.
func KillHolder(ctx context.Context, path string) (killed int, err error) {
	for {
		pid, err := Holder(path)
		if err != nil || pid == 0 {
			return killed, err
		}
		if pid == os.Getpid() || pid < 0 {
			return killed, fmt.Errorf("%s: %w", path, ErrLocked)
		}
		if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			return killed, fmt.Errorf("end process %d, which holds %s: %w", pid, path, err)
		}
		killed = pid
		select {
		case <-ctx.Done():
			return killed, fmt.Errorf("wait for the end of process %d: %w", pid, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}
