package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/content"
)

// A searchEntry is one thing that can be found. The page's own code ranks them; see assets/src/search-index.ts.
type searchEntry struct {
	Kind  string `json:"kind"` // track, lesson, section, exercise, term, reference
	URL   string `json:"url"`
	Title string `json:"title"`
	Place string `json:"place,omitempty"` // what it is part of, in words
	Also  string `json:"also,omitempty"`  // other words that count almost as much as its title
	Text  string `json:"text,omitempty"`
	Real  bool   `json:"real,omitempty"` // needs real nodes
}

// A searchIndex is what the page gets, ready to be sent, and what the server searches by itself.
type searchIndex struct {
	json, gzip []byte
	tag        string // of its content
	finder     *finder
}

// search answers with everything that can be found. It is the same for all learners, and the browser keeps it as long as
// it does not change.
func (s *Server) search(c echo.Context) error {
	index, err := s.library.current().index()
	if err != nil {
		return err
	}
	h, body := c.Response().Header(), index.json
	h.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	h.Set(echo.HeaderCacheControl, "private, no-cache") // asks each time whether it changed
	h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
	tag := index.tag
	if strings.Contains(c.Request().Header.Get(echo.HeaderAcceptEncoding), "gzip") {
		h.Set(echo.HeaderContentEncoding, "gzip")
		body, tag = index.gzip, tag+"-gzip"
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(c.Response(), c.Request(), "", time.Time{}, bytes.NewReader(body))
	return nil
}

func newSearchIndex(l *library) (searchIndex, error) {
	entries := searchEntries(l)
	data, err := json.Marshal(entries)
	if err != nil {
		return searchIndex{}, fmt.Errorf("make the search index: %w", err)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(data); err != nil {
		return searchIndex{}, fmt.Errorf("compress the search index: %w", err)
	}
	if err := z.Close(); err != nil {
		return searchIndex{}, fmt.Errorf("compress the search index: %w", err)
	}
	sum := sha256.Sum256(data)
	return searchIndex{json: data, gzip: zipped.Bytes(), tag: fmt.Sprintf("%x", sum[:8]), finder: newFinder(entries)}, nil
}

func searchEntries(l *library) []searchEntry {
	entries := []searchEntry{}
	for _, track := range l.curriculum.Tracks {
		entries = append(entries, searchEntry{
			Kind: "track", URL: trackURL(track.ID), Title: track.Title, Text: track.Summary + " " + track.Outcome})
		for _, lesson := range track.Lessons {
			entries = append(entries, searchEntry{
				Kind: "lesson", URL: lessonURL(lesson.ID), Title: lesson.Title, Place: track.Title,
				Also: plainTexts(slices.Concat(lesson.Objectives, []string{lesson.Summary})), Text: opening(lesson.Sections), Real: l.realNodes(lesson)})
			entries = append(entries, sections(lessonURL(lesson.ID), lesson.Title, lesson.Sections)...)
			for _, id := range lesson.ExerciseIDs {
				if e := l.exercise(id); e != nil {
					texts := []string{e.Task}
					for _, c := range e.Checks {
						texts = append(texts, c.Says)
					}
					entries = append(entries, searchEntry{
						Kind: "exercise", URL: lessonURL(lesson.ID) + "#" + exerciseAnchor(id), Title: e.Title, Place: lesson.Title, Text: plainTexts(texts), Real: e.Cluster.Wants() == kindBackend})
				}
			}
		}
		for _, r := range track.References {
			entries = append(entries, searchEntry{Kind: "reference", URL: referenceURL(r.ID), Title: r.Title, Place: track.Title, Also: r.Summary, Text: opening(r.Sections)})
			entries = append(entries, sections(referenceURL(r.ID), r.Title, r.Sections)...)
		}
	}
	for _, t := range l.curriculum.Glossary {
		entries = append(entries, searchEntry{Kind: "term", URL: "/glossary#" + t.ID, Title: t.Name, Place: "Glossary", Also: strings.Join(t.Also, ", "), Text: t.Plain})
	}
	return entries
}

// opening is the text before the first heading, which is found as the page itself.
func opening(all []content.Section) string {
	if len(all) == 0 || all[0].ID != "" {
		return ""
	}
	return all[0].Text
}

func sections(url, title string, all []content.Section) []searchEntry {
	var entries []searchEntry
	for _, s := range all {
		if s.ID != "" {
			entries = append(entries, searchEntry{Kind: "section", URL: url + "#" + s.ID, Title: s.Heading.Text, Place: title, Text: s.Text})
		}
	}
	return entries
}

func plainTexts(markdown []string) string {
	var texts []string
	for _, m := range markdown {
		texts = append(texts, content.PlainText(m))
	}
	return strings.Join(texts, "\n")
}
