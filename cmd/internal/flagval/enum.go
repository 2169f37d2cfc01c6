// Package flagval holds the values that flags take: offsets, sizes, lists, names. Each
// parser answers a wrong value with what would be right.
package flagval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Enum is a flag that takes one of a few words. The variable keeps its value as the
// default.
func Enum(p *string, words ...string) pflag.Value { return &enum{p, words} }

type enum struct {
	value *string
	words []string
}

func (e *enum) String() string { return *e.value }
func (e *enum) Type() string   { return strings.Join(e.words, "|") }

// Words lists what may be given, for completion.
func (e *enum) Words() []string { return e.words }

func (e *enum) Set(s string) error {
	if slices.Contains(e.words, s) {
		*e.value = s
		return nil
	}
	return fmt.Errorf("want one of %s", strings.Join(e.words, ", "))
}
