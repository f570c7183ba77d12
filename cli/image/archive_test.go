package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The documents of a small image. Their digests are not checked when an archive is read: what loads it does.
const (
	configAMD = `{"os":"linux","architecture":"amd64","config":{},"rootfs":{"type":"layers"}}`
	configARM = `{"os":"linux","architecture":"arm64","config":{},"rootfs":{"type":"layers"}}`

	digestA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	digestB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	digestC = "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
	digestD = "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
	digestE = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"

	imageType = "application/vnd.oci.image.manifest.v1+json"
	indexType = "application/vnd.oci.image.index.v1+json"
)

func manifestOf(config string) string {
	return `{"schemaVersion":2,"mediaType":"` + imageType + `","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:` + config + `","size":1},"layers":[]}`
}

func descriptor(kind, digest, more string) string {
	return `{"mediaType":"` + kind + `","digest":"sha256:` + digest + `","size":1` + more + `}`
}

func named(name string) string {
	return `,"annotations":{"org.opencontainers.image.ref.name":"` + name + `"}`
}

func index(descriptors ...string) string {
	return `{"schemaVersion":2,"manifests":[` + strings.Join(descriptors, ",") + `]}`
}

func archive(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "image.tar")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRead(t *testing.T) {
	t.Parallel()
	amd, arm := Platform{"linux", "amd64"}, Platform{"linux", "arm64"}
	tests := map[string]struct {
		files map[string]string
		want  []Image
	}{
		"docker": {
			map[string]string{"manifest.json": `[{"Config":"a.json","RepoTags":["app:v1","app:v2"]}]`, "a.json": configAMD},
			[]Image{{[]string{"app:v1", "app:v2"}, []Platform{amd}}},
		},
		"OCI": {
			map[string]string{
				"./index.json":              index(descriptor(imageType, digestA, named("localhost/app:v1"))),
				"./blobs/sha256/" + digestA: manifestOf(digestB), "./blobs/sha256/" + digestB: configARM,
				"./blobs/sha256/" + digestC: strings.Repeat("{", maxDocument+1), // a layer
			},
			[]Image{{[]string{"localhost/app:v1"}, []Platform{arm}}},
		},
		"OCI for several platforms, of which one is there": {
			map[string]string{
				"index.json":              index(descriptor(indexType, digestA, named("app:v1"))),
				"blobs/sha256/" + digestA: index(descriptor(imageType, digestB, ""), descriptor(imageType, digestD, "")),
				"blobs/sha256/" + digestB: manifestOf(digestC), "blobs/sha256/" + digestC: configAMD,
			},
			[]Image{{[]string{"app:v1"}, []Platform{amd}}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Read(archive(t, tt.files))
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files map[string]string
		want  string
	}{
		"another archive": {map[string]string{"package.json": "{}"}, "no archive of an image"},
		"no name":         {map[string]string{"manifest.json": `[{"Config":"a.json"}]`, "a.json": configAMD}, "without a name"},
		"no config":       {map[string]string{"manifest.json": `[{"Config":"a.json","RepoTags":["app:v1"]}]`}, "not complete: a.json is missing"},
		"no manifest":     {map[string]string{"index.json": index(descriptor(imageType, digestE, named("app:v1")))}, "not complete: sha256:eee"},
		"no JSON":         {map[string]string{"manifest.json": "[{"}, "cannot be read"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if images, err := Read(archive(t, tt.files)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v, %v; want %q", images, err, tt.want)
			}
		})
	}
	for name, data := range map[string]string{"text": "not an archive\n", "empty": "", "compressed": "\x1f\x8b\x08\x00"} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(file); !errors.Is(err, ErrNoArchive) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "absent.tar")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
