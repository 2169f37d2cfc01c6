package flagval

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bytes is a number of bytes: 4096, 16KiB, 1MB. It is a flag value.
type Bytes int64

// NewBytes makes a flag value that stores into p, which holds the default.
func NewBytes(p *int64) *Bytes { return (*Bytes)(p) }

// String is the number.
func (b *Bytes) String() string { return strconv.FormatInt(int64(*b), 10) }

// Type names the value in help.
func (b *Bytes) Type() string { return "bytes" }

// Set reads the number.
func (b *Bytes) Set(s string) error {
	n, err := ParseBytes(s)
	if err != nil {
		return err
	}
	*b = Bytes(n)
	return nil
}

// byteUnits are powers of 1024 by the names of IEC, and of 1000 by the usual ones.
var byteUnits = map[string]int64{
	"": 1, "b": 1,
	"k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30, "tib": 1 << 40,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
}

// ParseBytes reads a number of bytes with an optional unit.
func ParseBytes(s string) (int64, error) {
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	unit, known := byteUnits[strings.ToLower(strings.TrimSpace(s[len(digits):]))]
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || !known {
		return 0, errors.New("want a number of bytes, such as 4096, 64KiB or 1GiB")
	}
	if int64(n) > math.MaxInt64/unit {
		return 0, fmt.Errorf("%s is more than %d bytes", s, int64(math.MaxInt64))
	}
	return int64(n) * unit, nil
}

// ParseDuration is time.ParseDuration with days (d) and weeks (w) besides.
func ParseDuration(s string) (time.Duration, error) {
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		digits, ok := strings.CutSuffix(s, unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n > int64(math.MaxInt64/length) || n < -int64(math.MaxInt64/length) {
			return 0, fmt.Errorf("%q is no duration", s)
		}
		return time.Duration(n) * length, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration: want such as 90s, 15m, 36h or 7d", s)
	}
	return d, nil
}
