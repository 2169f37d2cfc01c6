package logging

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// line is one log line with its fields.
type line struct {
	at                        time.Time
	level, component, message string
	attrs                     []slog.Attr
}

// appendText writes "time | LEVEL | component | message k=v k=v".
func (l line) appendText(dst []byte) []byte {
	dst = l.at.AppendFormat(dst, "2006-01-02 15:04:05")
	dst = fmt.Appendf(dst, " | %-5s | %-9s | %s", l.level, l.component, l.message)
	for _, a := range l.attrs {
		dst = append(dst, ' ')
		dst = append(dst, a.Key...)
		dst = append(dst, '=')
		dst = append(dst, quoteText(a.Value.Resolve().String())...)
	}
	return append(dst, '\n')
}

// quoteText quotes a value that would make the line ambiguous.
func quoteText(s string) string {
	if s == "" || strings.ContainsAny(s, " \"=|\t\r\n") {
		return strconv.Quote(s)
	}
	return s
}

// appendJSON writes the same fields as one object.
func (l line) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"time":`...)
	dst = appendValue(dst, l.at.Format(time.RFC3339))
	dst = appendField(dst, "level", strings.ToLower(l.level))
	dst = appendField(dst, Component, l.component)
	dst = appendField(dst, "message", l.message)
	for _, a := range l.attrs {
		dst = appendField(dst, a.Key, jsonValue(a.Value.Resolve()))
	}
	return append(dst, "}\n"...)
}

// jsonValue keeps numbers and booleans, and makes text of everything with words.
func jsonValue(v slog.Value) any {
	switch v.Kind() {
	case slog.KindInt64, slog.KindUint64, slog.KindFloat64, slog.KindBool:
		return v.Any()
	}
	return v.String()
}

func appendField(dst []byte, key string, v any) []byte {
	dst = append(dst, ',')
	dst = appendValue(dst, key)
	dst = append(dst, ':')
	return appendValue(dst, v)
}

func appendValue(dst []byte, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		b = strconv.AppendQuote(nil, fmt.Sprint(v))
	}
	return append(dst, b...)
}
