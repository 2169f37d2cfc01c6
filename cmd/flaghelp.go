package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// flagTable lists flags with their values, meaning and default, in aligned columns.
func flagTable(flags *pflag.FlagSet) string {
	var heads, texts []string
	widest := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := flagValueName(f)
		heads = append(heads, flagHead(f, value))
		texts = append(texts, usage+flagDefault(f))
		widest = max(widest, len(heads[len(heads)-1]))
	})
	var b strings.Builder
	for i := range heads {
		fmt.Fprintf(&b, "  %-*s  %s\n", widest, heads[i], texts[i])
	}
	return b.String()
}

// flagHead is "-d, --data-dir DIRECTORY".
func flagHead(f *pflag.Flag, value string) string {
	head := "    --" + f.Name
	if f.Shorthand != "" {
		head = "-" + f.Shorthand + ", --" + f.Name
	}
	if value != "" {
		head += " " + value
	}
	return head
}

// flagValueName is what stands for the flag's value: the words it may be, or the word in
// backquotes in its usage or else its type, in capitals. A switch has none.
func flagValueName(f *pflag.Flag) (name, usage string) {
	if f.NoOptDefVal != "" {
		return "", f.Usage
	}
	name, _ = pflag.UnquoteUsage(f)
	usage = strings.ReplaceAll(withoutValue(f.Usage), "`", "")
	if strings.Contains(name, "|") {
		return name, usage
	}
	return strings.ToUpper(name), usage
}

// withoutValue leaves out an end that only names the value, which stands beside the flag
// already: "how many: a `number`" is "how many".
func withoutValue(usage string) string {
	text, value, ok := strings.Cut(usage, ": a `")
	if !ok {
		text, value, ok = strings.Cut(usage, ": `")
	}
	if _, rest, closed := strings.Cut(value, "`"); ok && closed && (rest == "" || strings.HasPrefix(rest, " (")) {
		return text + rest
	}
	return usage
}

// flagDefault is " (default X)", or nothing where the default is empty or a zero that
// means "off".
func flagDefault(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "0", "[]", "-1":
		return ""
	}
	if strings.Contains(f.Usage, "(default") {
		return ""
	}
	return " (default " + f.DefValue + ")"
}
