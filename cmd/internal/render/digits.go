package render

import (
	"math"
	"strconv"
)

// counter appends numbers of which each is often the one before, or the next: offsets
// and timestamps of consecutive records. It keeps the digits of the last one.
type counter struct {
	value  int64
	digits []byte // of value, if any
}

// append appends v in decimal.
func (c *counter) append(dst []byte, v int64) []byte {
	switch {
	case v == c.value && len(c.digits) > 0:
	case v == c.value+1 && c.increment():
		c.value = v
	default:
		c.value = v
		c.digits = strconv.AppendInt(c.digits[:0], v, 10)
	}
	return append(dst, c.digits...)
}

// increment adds one to the digits. It is false, with nothing changed, if the number
// would get longer, is not positive, or has no successor.
func (c *counter) increment() bool {
	if c.value < 1 || c.value == math.MaxInt64 {
		return false
	}
	i := len(c.digits) - 1
	for i >= 0 && c.digits[i] == '9' {
		i--
	}
	if i < 0 {
		return false
	}
	c.digits[i]++
	for i++; i < len(c.digits); i++ {
		c.digits[i] = '0'
	}
	return true
}

// appendSmall is strconv.AppendInt with a short way for the sizes that records have.
func appendSmall(dst []byte, v int) []byte {
	if v == -1 {
		return append(dst, '-', '1')
	}
	return strconv.AppendInt(dst, int64(v), 10)
}
