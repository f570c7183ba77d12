package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

// controlVariable names the editor's socket to the programs that kubectl starts.
const controlVariable = "APILAB_CONTROL"

// EditorMain is the editor that kubectl is given: it shows a file in the page's editor and waits. args is the file.
func EditorMain(args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: editor FILE")
		return 2
	}
	switch err := editFile(args[0], os.Getenv(controlVariable)); {
	case errors.Is(err, context.Canceled): // Ctrl-C needs no words
		return 130
	case err != nil:
		fmt.Fprintln(os.Stderr, "editor:", err)
		return 1
	}
	return 0
}

func editFile(name, socket string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("open file: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fmt.Fprintln(os.Stderr, "The editor is open in the page: save there to go on, or close it to give up.")
	saved, result, err := askEdit(ctx, socket, Edit{Name: filepath.Base(name), Text: string(text), Language: language(name)})
	if err != nil || !saved {
		return err
	}
	return os.WriteFile(name, []byte(result), 0o600)
}

// language is what the page's editor highlights.
func language(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return "yaml"
	case ".json":
		return "json"
	case ".sh", ".bash":
		return "shell"
	}
	return ""
}
