package content

import (
	"embed"
	"io/fs"
)

//go:embed glossary/*.yaml */track.yaml */*/index.md */reference/*.md
var embedded embed.FS

// Embedded returns the curriculum that the binary carries, for Load.
func Embedded() fs.FS { return embedded }
