// Package kubeversion makes the Kubernetes libraries in this binary call themselves by their real version. Importing
// it is enough.
//
// Kubernetes' own build writes its version into two unexported variables with the linker's -X flag; a program that
// uses it as a library has "v0.0.0-master" there, which the API server then answers at /version and kubectl prints. Our Makefile
// could pass the same flags, but a plain `go build` or `go test` would still be wrong, so the variables are set here.
package kubeversion

import (
	_ "unsafe" // for go:linkname

	clientversion "k8s.io/client-go/pkg/version"
	"k8s.io/component-base/version"
)

// Version is that of k8s.io/kubernetes in go.mod; a test compares them.
const Version = "v1.37.2"

const major, minor = "1", "37"

//go:linkname serverGitVersion k8s.io/component-base/version.gitVersion
var serverGitVersion string

//go:linkname serverGitMajor k8s.io/component-base/version.gitMajor
var serverGitMajor string

//go:linkname serverGitMinor k8s.io/component-base/version.gitMinor
var serverGitMinor string

//go:linkname serverGitCommit k8s.io/component-base/version.gitCommit
var serverGitCommit string

//go:linkname clientGitVersion k8s.io/client-go/pkg/version.gitVersion
var clientGitVersion string

//go:linkname clientGitMajor k8s.io/client-go/pkg/version.gitMajor
var clientGitMajor string

//go:linkname clientGitMinor k8s.io/client-go/pkg/version.gitMinor
var clientGitMinor string

//go:linkname clientGitCommit k8s.io/client-go/pkg/version.gitCommit
var clientGitCommit string

func init() {
	serverGitVersion, serverGitMajor, serverGitMinor, serverGitCommit = Version, major, minor, ""
	clientGitVersion, clientGitMajor, clientGitMinor, clientGitCommit = Version, major, minor, ""
	// What Get answers was copied from gitVersion by an earlier init.
	if err := version.SetDynamicVersion(Version); err != nil {
		panic(err) // it accepts the value of gitVersion, which was just set
	}
	_ = clientversion.Get
}
