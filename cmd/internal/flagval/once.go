package flagval

import "fmt"

// Once is a text flag that cannot be given twice: the first would be forgotten.
type Once struct {
	p     *string
	given bool
}

// NewOnce makes a Once that stores into p, which holds the default.
func NewOnce(p *string) *Once { return &Once{p: p} }

// String is the text.
func (o *Once) String() string {
	if o.p == nil {
		return ""
	}
	return *o.p
}

// Type names the value in help.
func (o *Once) Type() string { return "string" }

// Set takes the text.
func (o *Once) Set(s string) error {
	if o.given {
		return fmt.Errorf("it was %q before: one at a time", *o.p)
	}
	*o.p, o.given = s, true
	return nil
}
