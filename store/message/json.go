package message

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"logdir/store/checkpoint"
)

// AppendJSON appends a tree of the schema as Kafka's converters and Jackson write it: one
// line without blanks, bytes as base64, ids as text, tagged fields only where they
// differ from their default.
func (s *Schema) AppendJSON(dst []byte, o *Object) []byte {
	dst = append(dst, '{')
	start := len(dst)
	for _, m := range o.Members {
		f := s.field(m.Name)
		if f != nil && f.Tagged && f.isDefault(m.Value) {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, m.Name)
		dst = append(dst, ':')
		var of *Schema
		if f != nil {
			of = f.Of
		}
		dst = appendValue(dst, of, m.Value)
	}
	return append(dst, '}')
}

// field finds a field by its name. A tree may have members that its schema does not: a caller
// can put a decoded blob in place of its bytes, see Typed.
func (s *Schema) field(name string) *Field {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return &s.Fields[i]
		}
	}
	return nil
}

// Typed is a tree with its own schema, which may stand for the value of any field when
// it is printed.
type Typed struct {
	Schema *Schema
	Object *Object
}

func appendValue(dst []byte, of *Schema, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(dst, v)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		return appendDouble(dst, v)
	case string:
		return AppendString(dst, v)
	case []byte:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v)
		return append(dst, '"')
	case checkpoint.UUID:
		return AppendString(dst, v.String())
	case []any:
		return appendList(dst, of, v)
	case *Object:
		return of.AppendJSON(dst, v)
	case Typed:
		return v.Schema.AppendJSON(dst, v.Object)
	}
	return append(dst, "null"...)
}

func appendList(dst []byte, of *Schema, list []any) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendValue(dst, of, v)
	}
	return append(dst, ']')
}

// AppendString appends a JSON string as Java decodes it, see AppendUTF8, and Jackson writes
// it: only quotes, backslashes and control characters are escaped.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789ABCDEF"
	if !utf8.ValidString(s) {
		s = string(AppendUTF8(nil, []byte(s)))
	}
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ' && strings.ContainsRune("\b\t\n\f\r", r):
			dst = append(dst, '\\', "btn_fr"[r-'\b'])
		case r < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// appendDouble writes a number as Java's Double.toString does: plain between a thousandth
// and ten million, else with an exponent, and always with a fraction.
func appendDouble(dst []byte, v float64) []byte {
	abs := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	case abs == 0 || abs >= 1e-3 && abs < 1e7:
		return appendFraction(dst, strconv.FormatFloat(v, 'f', -1, 64))
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	dst = append(appendFraction(dst, mantissa), 'E')
	n, _ := strconv.Atoi(exponent) // as FormatFloat wrote it
	return strconv.AppendInt(dst, int64(n), 10)
}

func appendFraction(dst []byte, digits string) []byte {
	dst = append(dst, digits...)
	if !strings.Contains(digits, ".") {
		dst = append(dst, ".0"...)
	}
	return dst
}
