package render

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// appendObject writes one JSON object on one line. The keys are column names.
func appendObject(dst []byte, columns []string, values []any) []byte {
	dst = append(dst, '{')
	for i, name := range columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendKey(dst, name)
		dst = appendJSONValue(dst, values[i])
	}
	return append(dst, "}\n"...)
}

// appendKey writes "LOG-START" as "log_start":.
func appendKey(dst []byte, column string) []byte {
	dst = append(dst, '"')
	for i := range len(column) {
		c := column[i]
		switch {
		case c == '-':
			c = '_'
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return append(dst, `":`...)
}

func appendJSONValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case string:
		return AppendJSONString(dst, v)
	case []byte:
		return AppendJSONString(dst, string(v))
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case int32:
		return strconv.AppendInt(dst, int64(v), 10)
	case bool:
		return strconv.AppendBool(dst, v)
	case []string:
		return appendList(dst, v, AppendJSONString)
	case []int32:
		return appendList(dst, v, appendInt[int32])
	case []int64:
		return appendList(dst, v, appendInt[int64])
	case []int:
		return appendList(dst, v, appendInt[int])
	case Both:
		return appendJSONValue(dst, v.JSON)
	}
	return appendMarshalled(dst, v)
}

// appendMarshalled is for rare values, such as nested lists.
func appendMarshalled(dst []byte, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return AppendJSONString(dst, fmt.Sprint(v))
	}
	return append(dst, b...)
}

func appendInt[T int | int32 | int64](dst []byte, v T) []byte {
	return strconv.AppendInt(dst, int64(v), 10)
}

func appendList[T any](dst []byte, list []T, one func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(dst, v)
	}
	return append(dst, ']')
}

// AppendJSONString writes s as a JSON string. Bytes that are not UTF-8 become U+FFFD;
// keys and values of records, which must not be mangled, go through AppendJSONMember.
func AppendJSONString(dst []byte, s string) []byte {
	return AppendJSONBytes(dst, []byte(strings.ToValidUTF8(s, "\ufffd")))
}

const hexDigits = "0123456789abcdef"

// appendEscape writes a byte that JSON does not take as it is.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
