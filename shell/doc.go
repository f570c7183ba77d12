// Package shell is the learner's shell: a POSIX/bash interpreter with kubectl, curl, jq and the usual tools inside, closed
// in to the learner's home folder, and the terminals that it runs in. It knows nothing of lessons, checks or browsers.
//
// The server calls Start for a terminal, Run for a script, and NewFiles for the page's list of files. Each shell is a
// process of its own, of this same program, whose main calls Main, KubectlMain or EditorMain by the name that it was
// started with ("shell", "kubectl", "editor").
//
// # What keeps a learner in
//
// Two layers, each of which holds by itself where it exists; TestEscapes proves the first with the second off.
//
// By construction, on every system: there is no code in the shell's process that runs a program of the host, opens a
// file but through the os.Root of the home (package vfs), or dials anything but the learner's own ports and API server
// (package localhost, tools.Host.Dial). kubectl opens and dials by itself, so its flags, operands, kubeconfigs and
// preferences are vetted just before a command runs (package kubectl), kustomize gets a file system of ours, and commands
// that would listen, or run an editor or a diff, get ours.
//
// By the kernel, on Linux with Landlock: the process and all that it starts may open only the home and a few devices,
// run only this program, and connect only to the API server's port (package sandbox). no_new_privs and limits of memory
// and file sizes are set besides.
//
// The first layer has one gap that only the second closes: kubectl opens a file some time after it was vetted, by its
// path. To profit from that, a symlink that leads out of the home would have to come into it in between, and no tool
// of ours makes such a link, or moves one to where it would lead out; it would have to be made from outside. Connections
// that kubectl upgrades (exec, attach, port-forward) are dialled by libraries that take no dialer: the server in the
// kubeconfig is checked instead. seccomp is not used: the learner's programs are interpreted, and cannot make system
// calls of their own.
package shell
