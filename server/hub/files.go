package hub

import (
	"fmt"

	"github.com/apilab/apilab/server/protocol"
)

// Files are a learner's home folder. Paths are relative to it, with slashes; nothing outside of it can be reached.
type Files interface {
	List() ([]protocol.FileInfo, error)
	Read(path string) (text, version string, err error)
	// Write makes or replaces a file. It is refused where version is not empty and the file's is another one.
	Write(path, text, version string) (newVersion string, err error)
	Delete(path string) error
	Close() error
}

// maxEditable bounds a text that is edited in the page, in bytes, so that what comes back fits into one message even
// where many of its characters have to be escaped.
const maxEditable = 480 << 10

var errTooLargeToEdit = fmt.Errorf("the text is too large for the page's editor, which takes up to %d KiB", maxEditable>>10)

// ListFiles returns what is in the learner's home folder.
func (h *Hub) ListFiles() ([]protocol.FileInfo, error) { return h.o.Files.List() }

// ReadFile returns a file's text.
func (h *Hub) ReadFile(path string) (protocol.FileText, error) {
	text, version, err := h.o.Files.Read(path)
	if err == nil && len(text) > maxEditable {
		return protocol.FileText{}, errTooLargeToEdit
	}
	return protocol.FileText{Text: text, Version: version}, err
}

// WriteFile replaces a file's text, unless it changed since it was read with this version.
func (h *Hub) WriteFile(path, text, version string) (protocol.FileVersion, error) {
	version, err := h.o.Files.Write(path, text, version)
	return protocol.FileVersion{Version: version}, err
}

// DeleteFile removes a file.
func (h *Hub) DeleteFile(path string) error { return h.o.Files.Delete(path) }
