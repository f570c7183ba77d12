package sandbox

import (
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Access rights of Landlock, see landlock(7).
const (
	readFile  = ll.AccessFSReadFile
	writeFile = ll.AccessFSWriteFile | ll.AccessFSTruncate
	listing   = ll.AccessFSReadDir
	makeFiles = ll.AccessFSMakeReg | ll.AccessFSMakeDir | ll.AccessFSMakeSym | ll.AccessFSRemoveFile | ll.AccessFSRemoveDir
)

// scopeSignal (LANDLOCK_SCOPE_SIGNAL) is left out: threads are restricted one by one, which puts each in a domain of its own, and
// a thread could then not signal what another one started. Nothing here signals any other process.
const scopeSignal = 1 << 1

// Enter restricts this process, all of its threads, and what it starts from now on. It cannot be undone.
func Enter(s Settings) (Report, error) {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 2048}
	if s.FileSize > 0 {
		limits[unix.RLIMIT_FSIZE] = s.FileSize
	}
	if s.Data > 0 {
		limits[unix.RLIMIT_DATA] = s.Data
	}
	for what, n := range limits {
		var old unix.Rlimit
		if err := unix.Getrlimit(what, &old); err == nil {
			n = min(n, old.Max)
		}
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			return Report{}, fmt.Errorf("set limit %d: %w", what, err)
		}
	}
	if err := ll.AllThreadsPrctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return Report{}, fmt.Errorf("set no_new_privs: %w", err)
	}
	if s.NoLandlock {
		return Report{}, nil
	}
	abi, err := ll.LandlockGetABIVersion()
	if err != nil || abi < 2 {
		return Report{}, nil //nolint:nilerr // an old kernel, or one without it: what is there by construction holds
	}
	rules := []landlock.Rule{
		landlock.PathAccess(readFile|writeFile|listing|makeFiles, s.Home).WithRefer(),
		landlock.PathAccess(listing|ll.AccessFSMakeSock|ll.AccessFSRemoveFile, s.Ports).WithResolveUnix(),
		landlock.PathAccess(readFile|writeFile, "/dev/null", "/dev/zero", "/dev/full").IgnoreIfMissing(),
		landlock.PathAccess(readFile, "/dev/random", "/dev/urandom", "/etc/localtime").IgnoreIfMissing(),
		landlock.PathAccess(readFile|writeFile, "/dev/tty").IgnoreIfMissing().WithIoctlDev(),
		landlock.PathAccess(readFile|ll.AccessFSExecute, s.Programs...),
	}
	if s.Bin != "" {
		rules = append(rules, landlock.PathAccess(listing, s.Bin))
	}
	if s.Pipes != "" {
		rules = append(rules, landlock.PathAccess(readFile|writeFile|ll.AccessFSMakeFifo|ll.AccessFSRemoveFile, s.Pipes))
	}
	if len(s.Folders) > 0 {
		rules = append(rules, landlock.PathAccess(readFile|writeFile|listing|makeFiles, s.Folders...))
	}
	if s.Control != "" {
		rules = append(rules, landlock.PathAccess(0, s.Control).WithResolveUnix())
	}
	if s.TCPPort > 0 {
		rules = append(rules, landlock.ConnectTCP(uint16(s.TCPPort)))
	}
	config := landlock.V11
	config.Scoped &^= scopeSignal
	if err := config.BestEffort().Restrict(rules...); err != nil {
		return Report{}, fmt.Errorf("restrict files: %w", err)
	}
	return Report{Landlock: true}, nil
}
