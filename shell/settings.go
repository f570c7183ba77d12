package shell

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/apilab/apilab/shell/kubectl"
	"github.com/apilab/apilab/shell/sandbox"
)

// settings are what a shell's process is told on file descriptor 3: not in its arguments or environment, which others
// on the machine may see.
type settings struct {
	Confine     kubectl.Confinement `json:"confine"`
	Sandbox     sandbox.Settings    `json:"sandbox"`
	Env         []string            `json:"env"`
	Control     string              `json:"control"` // socket of the editor, "" for none
	Quota       int64               `json:"quota"`
	Interactive bool                `json:"interactive"`
	Script      string              `json:"script"`
	Linger      string              `json:"linger"`   // "", or jobs outlive the script, whose end this and its status tell on the standard output
	Greeting    string              `json:"greeting"` // shown before the first prompt
	Trial       *trial              `json:"trial"`    // what to try instead of all that, see Confined
}

// send writes the settings to a new pipe, whose reading end the process gets.
func (s *settings) send() (*os.File, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		w.Write(text)
		w.Close()
	}()
	return r, nil
}

func receiveSettings() (*settings, error) {
	f := os.NewFile(3, "settings")
	if f == nil {
		return nil, fmt.Errorf("no settings")
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	s := &settings{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return s, nil
}
