// Package controlplane is the inside of a control-plane process: etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler as they are upstream, and KWOK's controllers in place of the kubelets. It runs one cluster from a
// data folder for as long as its parent lives, and knows nothing of how it is supervised beyond package wire.
//
// The components are driven through their options and flags, not through their cobra commands: those set up signal
// handling, which a process can do only once.
package controlplane
