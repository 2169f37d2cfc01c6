// Package man embeds the manual pages that "logdir help" shows too.
package man

import "embed"

//go:embed logdir.1 *.5 *.7
var pages embed.FS

// Page is the mdoc source of a page, such as "logdir-offsets.7".
func Page(name string) (string, bool) {
	data, err := pages.ReadFile(name)
	return string(data), err == nil
}

// Topics lists the embedded pages.
func Topics() []string {
	entries, err := pages.ReadDir(".")
	if err != nil {
		return nil // cannot be: the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
