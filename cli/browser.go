package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// openTime is how long an opener may take to say that it failed. One that takes longer has become the browser.
const openTime = 2 * time.Second

// errNoBrowser says that there is nothing to open a page with.
var errNoBrowser = errors.New("no browser on this machine")

// openBrowser shows an address in the user's browser.
func openBrowser(ctx context.Context, url string) error {
	name, err := opener()
	if err != nil {
		return err
	}
	cmd := exec.Command(name, url) // not with ctx: a browser may outlive apilab
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("open the browser: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("open the browser with %s: %w", name, err)
		}
	case <-time.After(openTime):
	case <-ctx.Done():
	}
	return nil
}

// opener is the system's program that opens addresses; $BROWSER goes first, as elsewhere.
func opener() (string, error) {
	if browser := os.Getenv("BROWSER"); browser != "" {
		return exec.LookPath(browser)
	}
	if runtime.GOOS == "darwin" {
		return exec.LookPath("open")
	}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return "", errNoBrowser
	}
	path, err := exec.LookPath("xdg-open")
	if err != nil {
		return "", errNoBrowser
	}
	return path, nil
}
