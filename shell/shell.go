// Package shell is the learner's shell: a POSIX/bash interpreter with kubectl, curl, jq and the usual tools inside, closed
// in to the learner's home folder, and the terminals that it runs in. It knows nothing of lessons, checks or browsers.
package shell
