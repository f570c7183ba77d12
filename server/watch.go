package server

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settleTime lets an editor or a version control system finish: they change files in several steps.
const settleTime = 200 * time.Millisecond

// A watcher says when something in folders changed, at any depth.
type watcher struct {
	notify *fsnotify.Watcher
	done   chan struct{}
}

// watch calls changed, never concurrently, after each change below the folders has settled. A folder that is not there is
// left out.
func watch(dirs []string, log *slog.Logger, changed func()) (*watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dirs, err)
	}
	w := &watcher{notify: notify, done: make(chan struct{})}
	if err := w.addFolders(dirs); err != nil {
		notify.Close()
		return nil, fmt.Errorf("watch %s: %w", dirs, err)
	}
	go w.run(dirs, log, changed)
	return w, nil
}

func (w *watcher) run(dirs []string, log *slog.Logger, changed func()) {
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
			if err := w.addFolders(dirs); err != nil { // new ones
				log.Warn("watch the content", "error", err)
			}
			changed()
		}
	}
}

func (w *watcher) addFolders(dirs []string) error {
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // it went while we looked
			}
			if err != nil || !d.IsDir() {
				return err
			}
			return w.notify.Add(path)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Close returns when changed is not called any more.
func (w *watcher) Close() error {
	err := w.notify.Close()
	<-w.done
	return err
}
