package cluster

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"
)

// Probe asks a URL of an API server for a sign of life, for providers. The error says what came instead of 200 OK.
func Probe(ctx context.Context, client *http.Client, url string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// WithPhase returns a new list in which p is the last phase, in the place of the last one if that has its name.
func WithPhase(phases []Phase, p Phase) []Phase {
	if n := len(phases); n > 0 && phases[n-1].Name == p.Name {
		phases = phases[:n-1]
	}
	return append(slices.Clone(phases), p)
}
