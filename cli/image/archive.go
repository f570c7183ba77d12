package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// An Image is one that an archive holds.
type Image struct {
	Names     []string
	Platforms []Platform // of an image for several, all that are in the archive
}

// RunsOn reports whether a node of that platform can run it.
func (i Image) RunsOn(p Platform) bool { return slices.Contains(i.Platforms, p) }

// maxDocument bounds a document in an archive: manifests and configurations are a few kilobytes, and what is larger is a layer.
const maxDocument = 1 << 20

// ErrNoArchive says that a file holds no image.
var ErrNoArchive = errors.New("is no archive of an image: make one with `docker save` or `podman save`")

// Read tells which images are in an archive, as `docker save` writes it, or in the layout of OCI.
func Read(file string) ([]Image, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	documents, err := readDocuments(f)
	if err != nil {
		return nil, fmt.Errorf("%s %w", file, err)
	}
	var images []Image
	if manifest, ok := documents["manifest.json"]; ok {
		images, err = documents.docker(manifest)
	} else if index, ok := documents["index.json"]; ok {
		images, err = documents.oci(index)
	} else {
		err = ErrNoArchive
	}
	if err != nil {
		return nil, fmt.Errorf("%s %w", file, err)
	}
	for _, i := range images {
		if len(i.Names) == 0 {
			return nil, fmt.Errorf("%s holds an image without a name: save it by its name, not by its id", file)
		}
	}
	return images, nil
}

// documents are the small files of an archive, by name.
type documents map[string][]byte

func readDocuments(f io.Reader) (documents, error) {
	found := documents{}
	archive := tar.NewReader(f)
	for {
		header, err := archive.Next()
		switch {
		case err == io.EOF && len(found) > 0:
			return found, nil
		case err != nil && len(found) == 0:
			return nil, ErrNoArchive
		case err != nil:
			return nil, fmt.Errorf("is damaged: %w", err)
		}
		if header.Typeflag != tar.TypeReg || header.Size > maxDocument {
			continue
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			return nil, fmt.Errorf("is damaged: %w", err)
		}
		if bytes.HasPrefix(data, []byte("{")) || bytes.HasPrefix(data, []byte("[")) {
			found[strings.TrimPrefix(header.Name, "./")] = data
		}
	}
}

func (d documents) docker(data []byte) ([]Image, error) {
	var manifest tarball.Manifest
	if err := json.Unmarshal(data, &manifest); err != nil {
		return nil, fmt.Errorf("has a manifest that cannot be read: %w", err)
	}
	var images []Image
	for _, one := range manifest {
		p, err := d.platform(one.Config)
		if err != nil {
			return nil, err
		}
		images = append(images, Image{one.RepoTags, []Platform{p}})
	}
	return images, nil
}

// The names that an index gives its images; containerd's is the full one.
const (
	containerdName = "io.containerd.image.name"
	ociName        = "org.opencontainers.image.ref.name"
)

func (d documents) oci(data []byte) ([]Image, error) {
	index, err := v1.ParseIndexManifest(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("has an index that cannot be read: %w", err)
	}
	var images []Image
	for _, one := range index.Manifests {
		var i Image
		for _, key := range []string{containerdName, ociName} {
			if name := one.Annotations[key]; name != "" {
				i.Names = []string{name}
				break
			}
		}
		if i.Platforms, err = d.platforms(one); err != nil {
			return nil, err
		}
		images = append(images, i)
	}
	return images, nil
}

// platforms are those of a manifest, or of the manifests in an index. One of an index that is not in the archive is none that
// could be loaded.
func (d documents) platforms(what v1.Descriptor) ([]Platform, error) {
	data, ok := d[blob(what.Digest)]
	if !ok {
		return nil, fmt.Errorf("is not complete: %s is missing", what.Digest)
	}
	if !what.MediaType.IsIndex() {
		manifest, err := v1.ParseManifest(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("has a manifest that cannot be read: %w", err)
		}
		p, err := d.platform(blob(manifest.Config.Digest))
		return []Platform{p}, err
	}
	index, err := v1.ParseIndexManifest(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("has an index that cannot be read: %w", err)
	}
	var all []Platform
	for _, one := range index.Manifests {
		if _, ok := d[blob(one.Digest)]; !ok {
			continue
		}
		inside, err := d.platforms(one)
		if err != nil {
			return nil, err
		}
		all = append(all, inside...)
	}
	return all, nil
}

func (d documents) platform(config string) (Platform, error) {
	data, ok := d[config]
	if !ok {
		return Platform{}, fmt.Errorf("is not complete: %s is missing", config)
	}
	file, err := v1.ParseConfigFile(bytes.NewReader(data))
	if err != nil {
		return Platform{}, fmt.Errorf("has a configuration that cannot be read: %w", err)
	}
	return Platform{file.OS, file.Architecture}, nil
}

func blob(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }
