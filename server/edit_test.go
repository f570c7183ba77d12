package server

import "github.com/apilab/apilab/server/hub"

func editOf(name, text string) hub.Edit { return hub.Edit{Name: name, Text: text, Language: "yaml"} }
