// Package english keeps kubectl from reading its translations, which costs every start of it a tenth of its time: the
// shell's kubectl speaks English. It has to be initialised before all packages with messages, and is: Go takes packages
// whose imports are ready in the order of their paths.
package english

import "k8s.io/kubectl/pkg/util/i18n"

func init() {
	if err := i18n.SetLoadTranslationsFunc(func() error { return nil }); err != nil {
		panic(err) // a package with messages came before this one
	}
}
