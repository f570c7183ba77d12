package gateway

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"mime"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// A capture is a body on its way through, of which a bounded copy is kept. Reading and data may happen at the same time:
// a transport may still send a request when its answer is there.
type capture struct {
	body  io.ReadCloser
	limit int
	size  int64  // as announced, -1 where unknown
	ended func() // called once when the body was read to its end, before the reader sees the last bytes; may be nil

	mu   sync.Mutex
	kept []byte
	read int64
	done bool
}

func newCapture(body io.ReadCloser, size int64, limit int, ended func()) *capture {
	return &capture{body: body, size: size, limit: limit, ended: ended}
}

func (c *capture) Read(p []byte) (int, error) {
	n, err := c.body.Read(p)
	if c.take(p[:n], err) && c.ended != nil {
		c.ended()
	}
	return n, err
}

// take reports whether this was the end of the body.
func (c *capture) take(p []byte, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read += int64(len(p))
	if c.read <= int64(c.limit) && c.size <= int64(c.limit) {
		c.kept = append(c.kept, p...)
	} else {
		c.kept = nil
	}
	if c.done || err != io.EOF && c.read != c.size {
		return false
	}
	c.done = true
	return true
}

func (c *capture) Close() error { return c.body.Close() }

// data is the whole body; nil where it is empty, too large, or not yet read to its end.
func (c *capture) data() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done {
		return nil
	}
	return c.kept
}

// decoded undoes the Content-Encoding. It is nil where that is unknown, or the result larger than limit.
func decoded(data []byte, encoding string, limit int) []byte {
	switch encoding {
	case "", "identity":
		return data
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil
		}
		plain, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
		if err != nil || len(plain) > limit {
			return nil
		}
		return plain
	default:
		return nil
	}
}

// asJSON returns a body as JSON, turning YAML and the protobuf of built-in kinds into it. It is nil where the body is none of
// them, or larger than limit.
func asJSON(data []byte, contentType string, limit int) json.RawMessage {
	if len(data) == 0 {
		return nil
	}
	var text json.RawMessage
	switch media := mediaType(contentType); {
	case media == runtime.ContentTypeProtobuf:
		text = protobufAsJSON(data)
	case strings.HasSuffix(media, "yaml"):
		text = yamlAsJSON(data)
	case strings.HasSuffix(media, "json"), media == "":
		if json.Valid(data) {
			text = data
		}
	}
	if len(text) > limit {
		return nil
	}
	return text
}

func yamlAsJSON(data []byte) json.RawMessage {
	if json.Valid(data) { // most YAML that kubectl sends
		return data
	}
	text, err := yaml.YAMLToJSON(data)
	if err != nil {
		return nil
	}
	return text
}

// mediaType is the content type without its parameters, in lower case; empty where there is none.
func mediaType(contentType string) string {
	media, _, _ := mime.ParseMediaType(contentType) // on broken parameters the media type is still given
	return media
}
