package shell

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestConfined(t *testing.T) {
	t.Parallel()
	everything := []string{"read files outside of its home", "write files outside of its home", "run programs of this machine", "connect to other programs of this machine"}
	for name, tt := range map[string]struct {
		noLandlock bool
		want       []string
	}{
		"by Landlock":          {false, nil},
		"by construction only": {true, everything}, // what a learner could do who finds a hole
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			o := Options{Home: filepath.Join(dir, "home"), Ports: filepath.Join(dir, "ports"), GatewayAddr: "127.0.0.1:1", noLandlock: tt.noLandlock}
			got, err := Confined(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if !tt.noLandlock && slices.Equal(got, everything) {
				t.Skip("this system has no Landlock")
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("a process could %q, want %q", got, tt.want)
			}
		})
	}
}
