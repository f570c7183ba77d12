package image

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// lookTime is how long an engine may take to say whether it has an image. One that is not up can take for ever.
const lookTime = 15 * time.Second

// Save writes the archive of an image that a container engine has, which is the name of its program, such as "podman".
func Save(ctx context.Context, engine, name, file string) error {
	limit, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	err := run(limit, engine, "image", "inspect", name)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limit.Err() != nil:
		return fmt.Errorf("%s did not answer within %s: see whether `%s ps` works, and restart the engine if it does not", engine, lookTime, engine)
	case err != nil && isUnknown(err.Error()):
		return fmt.Errorf("%s has no image %s: `%s images` lists those that it has", engine, name, engine)
	case err != nil:
		return err
	}
	args := []string{"save", "-o", file, name}
	if engine == "podman" {
		args = []string{"save", "--format=docker-archive", "-o", file, name} // its own is without names
	}
	if err := run(ctx, engine, args...); err != nil {
		return fmt.Errorf("save the image %s: %w", name, err)
	}
	return nil
}

// isUnknown reports whether an engine says that it has no such image, rather than that it does not work.
func isUnknown(said string) bool {
	said = strings.ToLower(said)
	for _, words := range []string{"no such image", "image not known", "no such object", "not found"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

// run runs one of the engine's commands. The error has its last line of complaint.
func run(ctx context.Context, engine string, args ...string) error {
	cmd := exec.CommandContext(ctx, engine, args...)
	cmd.WaitDelay = time.Second
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(complaint.String()), "\n")
		return fmt.Errorf("%s %s: %w: %s", engine, args[0], err, lines[len(lines)-1])
	}
	return nil
}
