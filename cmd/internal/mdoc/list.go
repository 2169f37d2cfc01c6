package mdoc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// step is how much further a list's text stands to the right.
const step = 6

func (p *printer) openList(args []string) {
	p.flush()
	l := list{compact: slices.Contains(args, "-compact")}
	if len(args) > 0 {
		l.kind = args[0]
	}
	p.lists = append(p.lists, l)
	p.indent += step
}

// item starts an item of the innermost list.
func (p *printer) item(args []string) error {
	if len(p.lists) == 0 {
		return errors.New("an item outside a list")
	}
	l := &p.lists[len(p.lists)-1]
	if l.kind == "-column" {
		return l.addRow(args)
	}
	p.flush()
	if !l.compact {
		p.paragraph()
	}
	head, err := inline(args)
	if l.kind == "-bullet" {
		head = "  -"
	}
	p.setHead(head)
	return err
}

// setHead prints the head of an item: before its text if it is short enough, else on a
// line of its own.
func (p *printer) setHead(head string) {
	outer := strings.Repeat(" ", p.indent-step)
	if len(head) < step {
		p.hang = fmt.Sprintf("%s%-*s", outer, step, head)
		return
	}
	p.print(outer + head + "\n")
}

func (p *printer) closeList() {
	p.flush()
	if len(p.lists) == 0 {
		return
	}
	l := p.lists[len(p.lists)-1]
	p.lists = p.lists[:len(p.lists)-1]
	p.indent -= step
	if l.kind == "-column" {
		p.columns(l.rows)
	}
}

// addRow takes a row of a table apart at its "Ta".
func (l *list) addRow(args []string) error {
	var row []string
	for {
		i := slices.Index(args, "Ta")
		if i < 0 {
			i = len(args)
		}
		cell, err := inline(args[:i])
		if err != nil {
			return err
		}
		row = append(row, cell)
		if i == len(args) {
			l.rows = append(l.rows, row)
			return nil
		}
		args = args[i+1:]
	}
}

// columns prints a table, two blanks between its columns.
func (p *printer) columns(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			fmt.Fprintf(&line, "%-*s  ", widths[i], cell)
		}
		p.verbatim(line.String())
	}
}
