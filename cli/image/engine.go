package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// engines are the container engines that kind knows, in its order.
var engines = []string{"docker", "nerdctl", "finch", "podman"}

// lookTime is how long an engine may take to say whether it has an image. One that is not up can take for ever.
const lookTime = 15 * time.Second

// Save writes the archive of an image that a container engine of this machine has: the engine that kind is told to use by
// KIND_EXPERIMENTAL_PROVIDER, or the first that has the image.
func Save(ctx context.Context, name, file string) error {
	asked := engines
	if one := os.Getenv("KIND_EXPERIMENTAL_PROVIDER"); one != "" {
		asked = []string{one}
	}
	var there, silent []string
	for _, engine := range asked {
		if _, err := exec.LookPath(engine); err != nil {
			continue
		}
		there = append(there, engine)
		switch has, err := hasImage(ctx, engine, name); {
		case err != nil:
			silent = append(silent, err.Error())
		case has:
			return save(ctx, engine, name, file)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(there) == 0:
		return fmt.Errorf("there is no %s on this machine to get the image %s from: name an archive, or build one with `apilab kind build`", strings.Join(asked, ", "), name)
	case len(silent) > 0:
		return errors.New(strings.Join(silent, "; "))
	default:
		return fmt.Errorf("%s has no image %s: `%s images` lists those that are there", strings.Join(there, ", "), name, there[0])
	}
}

// hasImage asks an engine. One that is not up says so in its own words.
func hasImage(ctx context.Context, engine, name string) (bool, error) {
	limit, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	_, err := run(limit, engine, "image", "inspect", "--format", "{{.Id}}", name)
	if err == nil {
		return true, nil
	}
	if limit.Err() != nil {
		return false, fmt.Errorf("%s did not answer within %s: is it running?", engine, lookTime)
	}
	said := strings.ToLower(err.Error())
	if strings.Contains(said, "no such image") || strings.Contains(said, "not known") || strings.Contains(said, "not found") {
		return false, nil
	}
	return false, err
}

func save(ctx context.Context, engine, name, file string) error {
	args := []string{"save", "-o", file, name}
	if engine == "podman" {
		args = append([]string{"save", "--format", "docker-archive"}, args[1:]...) // keeps the name as it was given
	}
	if _, err := run(ctx, engine, args...); err != nil {
		return fmt.Errorf("save the image %s: %w", name, err)
	}
	return nil
}

// run returns what an engine printed, or its last line of complaint.
func run(ctx context.Context, engine string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, engine, args...)
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		return "", fmt.Errorf("%s %s: %w: %s", engine, args[0], err, lines[len(lines)-1])
	}
	return stdout.String(), nil
}
