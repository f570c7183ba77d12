// Package kind provides clusters of real nodes: containers of docker, podman or nerdctl on this machine, made with kind's
// library.
//
// A cluster is a folder here and containers there. The folder holds what the next process of the server needs; a part of it
// is mounted into every node, and that mount is what tells our nodes from all others: what does not have it is never
// touched. kind's library knows no contexts, so it works in a child process of this same binary, which is ended together
// with the engine's commands that it started; everything else here talks to the engine by its command line, within time limits.
package kind
