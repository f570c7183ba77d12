package server

import (
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settleTime lets an editor or a version control system finish: they change files in several steps.
const settleTime = 200 * time.Millisecond

// A watcher says when something in a folder changed, at any depth.
type watcher struct {
	notify *fsnotify.Watcher
	done   chan struct{}
}

// watch calls changed, never concurrently, after each change below dir has settled.
func watch(dir string, log *slog.Logger, changed func()) (*watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	w := &watcher{notify: notify, done: make(chan struct{})}
	if err := w.addFolders(dir); err != nil {
		notify.Close()
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	go w.run(dir, log, changed)
	return w, nil
}

func (w *watcher) run(dir string, log *slog.Logger, changed func()) {
	defer close(w.done)
	settled := time.NewTimer(0)
	<-settled.C
	for {
		select {
		case _, ok := <-w.notify.Events:
			if !ok {
				return
			}
			settled.Reset(settleTime)
		case err, ok := <-w.notify.Errors:
			if !ok {
				return
			}
			log.Warn("watch the content", "error", err)
			settled.Reset(settleTime) // events were lost: look again
		case <-settled.C:
			if err := w.addFolders(dir); err != nil { // new ones
				log.Warn("watch the content", "error", err)
			}
			changed()
		}
	}
}

func (w *watcher) addFolders(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return w.notify.Add(path)
	})
}

// Close returns when changed is not called any more.
func (w *watcher) Close() error {
	err := w.notify.Close()
	<-w.done
	return err
}
