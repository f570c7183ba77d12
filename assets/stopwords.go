package assets

import (
	_ "embed"
	"encoding/json"
	"sync"
)

//go:embed src/stop-words.json
var stopWords []byte

// StopWords are those that nearly every text has, so that a search does not ask for them. The search in the browser has the
// same list.
var StopWords = sync.OnceValue(func() []string {
	var words []string
	if err := json.Unmarshal(stopWords, &words); err != nil {
		panic(err) // the file is built in
	}
	return words
})
