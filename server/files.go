package server

import (
	"github.com/apilab/apilab/server/protocol"
	"github.com/apilab/apilab/shell"
)

// files are a learner's home folder, as the hub wants it.
type files struct{ *shell.Files }

func (f files) List() ([]protocol.FileInfo, error) {
	found, err := f.Files.List()
	list := make([]protocol.FileInfo, 0, len(found))
	for _, e := range found {
		list = append(list, protocol.FileInfo(e))
	}
	return list, err
}
