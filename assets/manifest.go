package assets

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Prefix is the path under which the server mounts the Renderer's files.
const Prefix = "/assets/"

// A manifest maps source files to the hashed files that vite built of them, https://vite.dev/guide/backend-integration.
type manifest map[string]chunk

type chunk struct {
	File    string   `json:"file"`
	Imports []string `json:"imports"` // keys of chunks that this one needs at once
	CSS     []string `json:"css"`
}

// readManifest returns an empty manifest when nothing has been built.
func readManifest(dist fs.FS) (manifest, error) {
	m := manifest{}
	data, err := fs.ReadFile(dist, "manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read assets manifest: %w", err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("read assets manifest: %w", err)
	}
	return m, nil
}

// script returns the address of an entry point, "" when it is not built.
func (m manifest) script(source string) string {
	c, ok := m[source]
	if !ok {
		return ""
	}
	return Prefix + c.File
}

// preloads returns the addresses of all chunks that a script needs before it can run, each once.
func (m manifest) preloads(source string) []string {
	seen := map[string]bool{}
	var walk func(key string)
	walk = func(key string) {
		for _, i := range m[key].Imports {
			if !seen[i] {
				seen[i] = true
				walk(i)
			}
		}
	}
	walk(source)
	var urls []string
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		urls = append(urls, Prefix+m[key].File)
	}
	return urls
}

// styles returns the addresses of an entry point's style sheets, that of a CSS entry included.
func (m manifest) styles(source string) []string {
	c := m[source]
	var urls []string
	if strings.HasSuffix(c.File, ".css") {
		urls = append(urls, Prefix+c.File)
	}
	for _, file := range c.CSS {
		urls = append(urls, Prefix+file)
	}
	return urls
}

// asset returns the address of the file that was built of a source whose path ends so: fonts, images.
func (m manifest) asset(suffix string) string {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if strings.HasSuffix(key, suffix) {
			return Prefix + m[key].File
		}
	}
	return ""
}
