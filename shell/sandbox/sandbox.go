// Package sandbox closes a process in with what the kernel offers, beneath what the programs in it allow by
// construction. It knows nothing of what runs in it.
package sandbox

// Settings say what a process and its children may still do.
type Settings struct {
	Home       string   // real folder: files and folders, no programs
	Ports      string   // folder of sockets
	Pipes      string   // folder of named pipes, "" for none
	Control    string   // socket of the server, "" for none
	Folders    []string // further folders as Home
	Programs   []string // files that may be run, all of them this program
	Bin        string   // folder of links to them, which may be listed
	TCPPort    int      // the only port that may be connected to, 0 for none
	FileSize   uint64   // bytes that a file may grow to
	Data       uint64   // bytes of private memory of each process
	NoLandlock bool     // for proving that nothing depends on it alone
}

// Report says what closed.
type Report struct {
	Landlock bool // files, programs and TCP ports are restricted by the kernel
}
