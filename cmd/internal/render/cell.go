package render

import (
	"fmt"
	"strconv"
	"strings"
)

// none is how a missing value reads in table and tsv.
const none = "-"

// cellText is a value as a person reads it. Lists join with commas; an empty list and
// an empty text are no value.
func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return none
	case string:
		return orNone(v)
	case []byte:
		return orNone(string(v))
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case int32:
		return strconv.FormatInt(int64(v), 10)
	case bool:
		return yesNo(v)
	case []string:
		return orNone(strings.Join(v, ","))
	case []int32:
		return joinNumbers(v)
	case []int:
		return joinNumbers(v)
	case []int64:
		return joinNumbers(v)
	case Both:
		return orNone(v.Text)
	}
	return orNone(fmt.Sprint(v))
}

func orNone(s string) string {
	if s == "" {
		return none
	}
	return s
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func joinNumbers[T int | int32 | int64](list []T) string {
	var dst []byte
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(v), 10)
	}
	return orNone(string(dst))
}
