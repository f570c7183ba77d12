package assets

import (
	"crypto/sha256"
	"encoding/hex"
	"html/template"
	"io/fs"
	"strings"
)

// Diagram returns the SVG that the build drew of a mermaid source, and false when it drew none: the source is new since
// the last build, or nothing is built. Surrounding white space does not count.
func (r *Renderer) Diagram(source string) (template.HTML, bool) {
	svg, err := fs.ReadFile(r.dist, "diagrams/"+diagramName(source)+".svg")
	if err != nil {
		return "", false
	}
	return template.HTML(svg), true
}

// diagramName must agree with build/diagrams.mjs.
func diagramName(source string) string {
	source = strings.TrimSpace(strings.ReplaceAll(source, "\r\n", "\n"))
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:8])
}
