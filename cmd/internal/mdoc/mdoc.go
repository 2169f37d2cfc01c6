// Package mdoc turns the project's manual pages into plain text, for "logdir help". It
// knows the macros that these pages use; any other is an error, which a test finds.
package mdoc

import (
	"fmt"
	"strings"
)

// textWidth is where lines of running text end.
const textWidth = 78

// Text renders a page. With a section ("EXIT STATUS") it renders only the body of that.
func Text(page, section string) (string, error) {
	p := printer{section: section, skipping: section != ""}
	for i, line := range strings.Split(strings.TrimRight(page, "\n"), "\n") {
		if err := p.line(line); err != nil {
			return "", fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	p.flush()
	return strings.TrimLeft(p.out.String(), "\n"), nil
}

// printer is a page in the making.
type printer struct {
	out     strings.Builder
	section string // the only one wanted, or ""
	// skipping holds outside the section that is wanted.
	skipping bool

	words   []string // of the open paragraph
	indent  int
	hang    string // stands before the next line instead of the indent: a list's head
	lists   []list
	literal bool
}

// list is an open list.
type list struct {
	kind    string // -tag, -bullet or -column
	compact bool
	rows    [][]string // of -column
}

func (p *printer) line(s string) error {
	if p.literal && s != ".Ed" {
		p.verbatim(unescape(s))
		return nil
	}
	if !strings.HasPrefix(s, ".") {
		p.add(strings.Fields(unescape(s)))
		return nil
	}
	fields := split(s[1:])
	if len(fields) == 0 || strings.HasPrefix(s, `.\"`) {
		return nil
	}
	return p.macro(fields[0], fields[1:])
}

// macro carries out one request at the start of a line.
func (p *printer) macro(name string, args []string) error {
	switch name {
	case "Dd", "Dt", "Os":
	case "Sh":
		p.heading(strings.Join(args, " "))
	case "Ss":
		p.flush()
		p.print("\n " + strings.Join(args, " ") + "\n")
	case "Pp":
		p.paragraph()
	case "Bl":
		p.openList(args)
	case "It":
		return p.item(args)
	case "El":
		p.closeList()
	case "Bd":
		p.flush()
		p.literal = true
	case "Ed":
		p.literal = false
	case "Dl":
		p.flush()
		text, err := inline(args)
		p.verbatim(text)
		return err
	default:
		text, err := inline(append([]string{name}, args...))
		p.add(strings.Fields(text))
		return err
	}
	return nil
}

// heading starts a section; all of it is dropped if another one is wanted.
func (p *printer) heading(title string) {
	p.flush()
	p.indent = 2
	if p.section != "" {
		p.skipping = title != p.section
		p.indent = 0
		return
	}
	p.print("\n" + title + "\n")
}

// add puts words into the open paragraph. Closing punctuation joins the word before.
func (p *printer) add(words []string) {
	for _, w := range words {
		if n := len(p.words); n > 0 && isClosing(w) {
			p.words[n-1] += w
			continue
		}
		p.words = append(p.words, w)
	}
}

// paragraph ends the open one with a blank line.
func (p *printer) paragraph() {
	p.flush()
	if !strings.HasSuffix(p.out.String(), "\n\n") {
		p.print("\n")
	}
}

// flush prints the open paragraph, filled.
func (p *printer) flush() {
	line := p.hang
	if line == "" {
		line = strings.Repeat(" ", p.indent)
	}
	start := line
	for _, w := range p.words {
		if len(line) > p.indent && line != start && len(line)+1+len(w) > textWidth {
			p.print(line + "\n")
			line = strings.Repeat(" ", p.indent)
			start = line
		}
		if line != start {
			line += " "
		}
		line += w
	}
	if len(p.words) > 0 || p.hang != "" {
		p.print(strings.TrimRight(line, " ") + "\n")
	}
	p.words, p.hang = nil, ""
}

func (p *printer) verbatim(s string) {
	p.print(strings.TrimRight(strings.Repeat(" ", p.indent+2)+s, " ") + "\n")
}

func (p *printer) print(s string) {
	if !p.skipping {
		p.out.WriteString(s)
	}
}
