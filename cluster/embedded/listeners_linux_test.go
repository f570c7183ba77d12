package embedded_test

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// listeners returns what this process and its children listen on, by TCP and UDP. From proc(5).
func listeners(t *testing.T) []net.TCPAddr {
	t.Helper()
	ours := map[string]bool{} // inodes of sockets
	for _, pid := range append(children(t, os.Getpid()), os.Getpid()) {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, link := range links {
			if target, err := os.Readlink(link); err == nil {
				if inode, ok := strings.CutPrefix(target, "socket:["); ok {
					ours[strings.TrimSuffix(inode, "]")] = true
				}
			}
		}
	}
	var found []net.TCPAddr
	for table, state := range map[string]string{"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"} {
		f, err := os.Open("/proc/net/" + table)
		if err != nil {
			continue // no IPv6
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			if len(fields) > 9 && fields[3] == state && ours[fields[9]] {
				found = append(found, address(t, fields[1]))
			}
		}
	}
	if len(found) == 0 {
		t.Error("nothing listens at all, which cannot be")
	}
	return found
}

// address decodes the kernel's notation: words of the address in host byte order.
func address(t *testing.T, s string) net.TCPAddr {
	t.Helper()
	ip, port, _ := strings.Cut(s, ":")
	raw, err := hex.DecodeString(ip)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(raw); i += 4 {
		binary.BigEndian.PutUint32(raw[i:], binary.NativeEndian.Uint32(raw[i:]))
	}
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		t.Fatal(err)
	}
	return net.TCPAddr{IP: raw, Port: int(n)}
}

// children returns the processes whose parent is pid, zombies left out.
func children(t *testing.T, pid int) []int {
	t.Helper()
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var out []int
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		text := string(raw)
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		if len(fields) > 1 && fields[0] != "Z" && fields[1] == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(strings.Split(path, "/")[2])
			out = append(out, child)
		}
	}
	slices.Sort(out)
	return out
}
