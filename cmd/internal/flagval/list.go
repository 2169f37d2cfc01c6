package flagval

import (
	"fmt"
	"strconv"
	"strings"
)

// IDs is a list of broker ids: 1,2,5. It is a flag value.
type IDs []int32

// String lists the ids.
func (l *IDs) String() string {
	var b []byte
	for i, id := range *l {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return string(b)
}

// Type names the value in help.
func (l *IDs) Type() string { return "id,id" }

// Set reads the list; it takes the place of an earlier one.
func (l *IDs) Set(s string) error {
	*l = nil
	for word := range strings.SplitSeq(s, ",") {
		id, err := strconv.ParseUint(word, 10, 31)
		if err != nil {
			return fmt.Errorf("%q is no broker id: want a list such as 1,2", word)
		}
		*l = append(*l, int32(id))
	}
	return nil
}
