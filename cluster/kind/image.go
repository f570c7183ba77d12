package kind

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/version"
)

// An imageStore gets the node image into the engine, once, and remembers that it is there and of the right version.
type imageStore struct {
	mu   sync.Mutex
	good string // the image that was found to be right
}

// pulling is how long the pull of an image may take, in a network that is slow.
const pulling = time.Hour

// ensure returns the name of the node image, which the engine then has.
func (s *imageStore) ensure(ctx context.Context, o Options, j *journal) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := o.Engine
	if s.good != "" && e.has(ctx, s.good) {
		return s.good, nil
	}
	image := o.image()
	if o.ImageArchive != "" && (o.Image == "" || !e.has(ctx, image)) {
		j.begin(stepArchive)
		loaded, err := e.loadImage(ctx, o.ImageArchive)
		if err != nil {
			return "", err
		}
		if o.Image == "" {
			image = loaded
		}
	}
	if !e.has(ctx, image) {
		j.begin(stepOf("Ensuring node image"))
		if _, err := e.run(ctx, pulling, "pull", e.ref(image)); err != nil {
			return "", fmt.Errorf("get the node image %s: %w\nwithout a network, save it elsewhere (`docker save`) and say --kind-image-archive FILE", image, err)
		}
	}
	has, err := e.imageVersion(ctx, image)
	if err != nil {
		return "", err
	}
	if err := sameMinor(image, has, o.Kubernetes); err != nil {
		return "", err
	}
	s.good = image
	return image, nil
}

func (o Options) image() string {
	if o.Image == "" {
		return DefaultImage
	}
	return o.Image
}

func (e Engine) has(ctx context.Context, image string) bool {
	_, err := e.run(ctx, quick, "image", "inspect", e.ref(image))
	return err == nil
}

// ref is what the engine calls an image. podman takes no tag beside a digest and, unlike docker, asks where a short name
// is from.
func (e Engine) ref(image string) string {
	if e != "podman" {
		return image
	}
	if name, digest, found := strings.Cut(image, "@"); found {
		if at := strings.LastIndex(name, ":"); at > strings.LastIndex(name, "/") {
			name = name[:at]
		}
		image = name + "@" + digest
	}
	host, rest, found := strings.Cut(image, "/")
	switch {
	case !found:
		return "docker.io/library/" + image
	case host != "localhost" && !strings.ContainsAny(host, ".:") && rest != "":
		return "docker.io/" + image
	}
	return image
}

var loadedImage = regexp.MustCompile(`(?m)^(?:Loaded image(?:\(s\))?:|unpacking) (\S+)`)

// loadImage loads an archive of one image and returns its name.
func (e Engine) loadImage(ctx context.Context, archive string) (string, error) {
	if _, err := os.Stat(archive); err != nil {
		return "", fmt.Errorf("--kind-image-archive: %w", err)
	}
	out, err := e.run(ctx, pulling, "load", "--input", archive)
	if err != nil {
		return "", fmt.Errorf("load the node image: %w", err)
	}
	found := loadedImage.FindStringSubmatch(out)
	if found == nil {
		return "", fmt.Errorf("%s has no image with a name: give it one before you save it, or say --kind-image", archive)
	}
	return found[1], nil
}

// imageVersion is the Kubernetes version of a node image, as the image itself says.
func (e Engine) imageVersion(ctx context.Context, image string) (string, error) {
	out, err := e.run(ctx, slow, "run", "--rm", "--network=none", "--entrypoint=cat", e.ref(image), "/kind/version")
	if err != nil {
		if strings.Contains(err.Error(), "No such file") {
			return "", fmt.Errorf("%s is no node image of kind: choose another with --kind-image", image)
		}
		return "", fmt.Errorf("look into the node image: %w", err)
	}
	return strings.TrimSpace(out), nil
}

// sameMinor checks that an image is of the version that the lessons are about, but for its patch.
func sameMinor(image, has, wanted string) error {
	if wanted == "" {
		return nil
	}
	h, err := version.ParseSemantic(has)
	if err != nil {
		return fmt.Errorf("the node image %s says that its version is %q: choose another with --kind-image", image, has)
	}
	w, err := version.ParseSemantic(wanted)
	if err != nil {
		return err
	}
	if h.Major() != w.Major() || h.Minor() != w.Minor() {
		return fmt.Errorf("%w (%s has %s, they are for v%d.%d): choose one of v%d.%d with --kind-image, such as kindest/node:%s",
			ErrVersion, image, has, w.Major(), w.Minor(), w.Major(), w.Minor(), wanted)
	}
	return nil
}
