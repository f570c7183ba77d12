//go:build !linux

package kind

// spareInotify is the business of the virtual machine that the engine runs in.
func (m machine) spareInotify(int) bool { return true }
