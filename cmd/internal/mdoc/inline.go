package mdoc

import (
	"errors"
	"fmt"
	"strings"
)

// plainMacros only set a font.
var plainMacros = map[string]bool{
	"Ar": true, "Cm": true, "Ic": true, "Nm": true, "Pa": true, "Ev": true, "Em": true,
	"Sy": true, "Li": true, "No": true, "Va": true, "Er": true, "Sx": true,
}

// quoteMacros wrap the rest of the line.
var quoteMacros = map[string][2]string{
	"Pq": {"(", ")"}, "Op": {"[", "]"}, "Dq": {`"`, `"`}, "Bq": {"[", "]"}, "Sq": {"'", "'"},
}

// inline renders the macros of one line.
func inline(fields []string) (string, error) {
	l := liner{}
	err := l.run(fields)
	return l.out.String() + l.closers, err
}

// liner renders one line of macros.
type liner struct {
	out     strings.Builder
	joined  bool // no blank before the next word
	flag    bool // words are flags
	quoted  bool // words stand in quotes
	closers string
}

func (l *liner) run(fields []string) error {
	for i := 0; i < len(fields); i++ {
		f := fields[i]
		switch {
		case f == "Xr":
			if len(fields) < i+3 {
				return errors.New("the macro Xr needs a page and a section")
			}
			l.font(false, false)
			l.word(fields[i+1] + "(" + fields[i+2] + ")")
			i += 2
		case f == "Nd":
			l.word("-")
		case isMacro(f):
			l.macro(f, i+1 < len(fields) && !isClosing(fields[i+1]))
		case looksLikeMacro(f) && i == 0:
			return fmt.Errorf("unknown macro %s", f)
		default:
			l.word(l.dress(unescape(f)))
		}
	}
	return nil
}

func isMacro(f string) bool {
	_, quote := quoteMacros[f]
	return plainMacros[f] || quote || f == "Fl" || f == "Ql" || f == "Ns" || f == "Oo" || f == "Oc"
}

// looksLikeMacro tells two letters, the first a capital.
func looksLikeMacro(f string) bool {
	return len(f) == 2 && 'A' <= f[0] && f[0] <= 'Z' && 'a' <= f[1] && f[1] <= 'z'
}

func (l *liner) macro(name string, hasWords bool) {
	switch name {
	case "Fl":
		l.font(true, false)
		if !hasWords {
			l.word("-")
		}
	case "Ql":
		l.font(false, true)
	case "Ns":
		l.joined = true
	case "Oo":
		l.word("[")
		l.joined = true
	case "Oc":
		l.out.WriteString("]")
	default:
		l.font(false, false)
		if q, ok := quoteMacros[name]; ok {
			l.word(q[0])
			l.joined = true
			l.closers = q[1] + l.closers
		}
	}
}

func (l *liner) font(flag, quoted bool) { l.flag, l.quoted = flag, quoted }

// dress gives a word what its macro puts around it.
func (l *liner) dress(w string) string {
	switch {
	case isClosing(w), w == "|":
		return w
	case l.flag:
		return "-" + w
	case l.quoted:
		return "'" + w + "'"
	}
	return w
}

// word writes a word. Closing punctuation joins the one before, behind the quotes
// that are open there.
func (l *liner) word(w string) {
	closing := isClosing(w)
	if closing && l.closers != "" {
		l.out.WriteString(l.closers)
		l.closers = ""
	}
	if l.out.Len() > 0 && !l.joined && !closing {
		l.out.WriteByte(' ')
	}
	l.joined = false
	l.out.WriteString(w)
}

// isClosing tells punctuation that stands without a blank before it.
func isClosing(w string) bool {
	return len(w) == 1 && strings.Contains(".,:;)]?!", w)
}

// split takes a line of macros apart at blanks; double quotes hold words together.
func split(s string) []string {
	var fields []string
	for s = strings.TrimLeft(s, " "); s != ""; s = strings.TrimLeft(s, " ") {
		if s[0] == '"' {
			if end := strings.IndexByte(s[1:], '"'); end >= 0 {
				fields, s = append(fields, s[1:end+1]), s[end+2:]
				continue
			}
		}
		word, rest, _ := strings.Cut(s, " ")
		fields, s = append(fields, word), rest
	}
	return fields
}

var escapes = strings.NewReplacer(
	`\-`, "-", `\&`, "", `\e`, `\`, `\(dq`, `"`, `\(aq`, "'", `\(em`, "--", `\(bu`, "-", `\ `, " ", `\(ti`, "~", `\(ha`, "^",
)

func unescape(s string) string { return escapes.Replace(s) }
