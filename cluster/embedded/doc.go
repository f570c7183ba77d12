// Package embedded provides clusters whose control plane is a child process of this same binary, with simulated nodes.
//
// A cluster is a folder: certificates, etcd's data and a description. Its process may die at any time, and so may the
// server: the folder holds all that the next process needs. The parent owns the listening socket of the API server and lends it to each
// process in turn, so a cluster's address never changes while the server runs, no port is ever guessed, and clients
// that connect during a restart wait for its end instead of being refused.
package embedded
