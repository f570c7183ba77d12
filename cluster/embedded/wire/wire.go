// Package wire is what the server and a control-plane child say to each other: the child reads a Config and then
// commands from its standard input, and writes one Message a line to descriptor StatusFD.
package wire

// The child's descriptors beyond the standard ones.
const (
	ListenerFD = 3 // the API server's listening socket, opened by the parent
	StatusFD   = 4
)

// Stop is the command to close the data cleanly and exit. The end of the input means the parent is gone: exit at once.
const Stop = "stop"

// Trim is the command to give back memory, which is answered with a Message.
const Trim = "trim"

// Config is the first line of the child's standard input, in JSON.
type Config struct {
	ID         string `json:"id"`
	Dir        string `json:"dir"` // the cluster's data folder, absolute
	Nodes      []Node `json:"nodes"`
	Ports      string `json:"ports,omitempty"` // see cluster.Spec
	StoreBytes int64  `json:"storeBytes"`      // what the cluster's objects may take
	// Bootstrapped says that the store has been that of a ready cluster, so that its default objects are there.
	Bootstrapped bool `json:"bootstrapped,omitempty"`
	Fresh        bool `json:"fresh,omitempty"` // the store is a copy of a template: forget what is another cluster's own
}

// Node is a simulated node to be there.
type Node struct {
	Name    string `json:"name"`
	Address string `json:"address"` // its InternalIP; only the stub kubelet answers there
	PodCIDR string `json:"podCIDR"`
	Zone    string `json:"zone"`
}

// A Message says how far the child is. One of its fields is set.
type Message struct {
	Begin string `json:"begin,omitempty"` // the phase of that name begins, and the one before it is done
	Ready bool   `json:"ready,omitempty"` // all phases are done
	Error string `json:"error,omitempty"` // why the child is about to exit

	Trimmed bool `json:"trimmed,omitempty"` // the answer to Trim
}

// Phases are the names of the phases in order, and what each says to the learner when it is done.
var Phases = []struct{ Name, Says string }{
	{"etcd", "etcd holds the data"},
	{"apiserver", "The API server answers"},
	{"bootstrap", "Roles and default objects are in place"},
	{"controllers", "The controllers run"},
	{"nodes", "The nodes are Ready"},
}
