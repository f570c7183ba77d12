package exercises

import (
	"embed"
	"io/fs"
)

//go:embed */*.yaml */backdrops/*.yaml
var files embed.FS

// Embedded returns the exercises that the binary carries, for Load.
func Embedded() fs.FS { return files }
