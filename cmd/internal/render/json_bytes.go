package render

import (
	"encoding/base64"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"logdir/store/record"
)

// AppendJSONBytes appends b, which must be UTF-8, as a JSON string.
func AppendJSONBytes(dst, b []byte) []byte {
	dst = append(dst, '"')
	for {
		n := plainPrefix(b)
		dst = append(dst, b[:n]...)
		if n == len(b) {
			return append(dst, '"')
		}
		dst = appendEscape(dst, b[n])
		b = b[n+1:]
	}
}

// plainPrefix tells how many bytes at the start of b stand for themselves in a JSON
// string. It looks at eight at a time.
func plainPrefix(b []byte) int {
	i := 0
	for ; len(b)-i >= 8; i += 8 {
		if special := specials(binary.LittleEndian.Uint64(b[i:])); special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for ; i < len(b); i++ {
		if b[i] < ' ' || b[i] == '"' || b[i] == '\\' {
			return i
		}
	}
	return i
}

const (
	eachByte = 0x0101010101010101
	highBits = 0x8080808080808080
)

// specials sets the high bit of each byte of w that is below ' ', a quote or a
// backslash. Above the lowest such byte there may be false ones.
func specials(w uint64) uint64 {
	control := (w - eachByte*' ') &^ w
	quote := zeroBytes(w ^ eachByte*'"')
	backslash := zeroBytes(w ^ eachByte*'\\')
	return (control | quote | backslash) & highBits
}

// zeroBytes sets the high bit of each byte that is zero.
func zeroBytes(w uint64) uint64 { return (w - eachByte) &^ w }

// AppendJSONMember appends `"name":` and a key or value of a record. Null is null; bytes
// that are not UTF-8 are not mangled, but stand in base64 under `"name_base64":`.
func AppendJSONMember(dst []byte, name string, b []byte) []byte {
	dst = append(append(dst, '"'), name...)
	switch {
	case b == nil:
		return append(dst, `":null`...)
	case utf8.Valid(b):
		return AppendJSONBytes(append(dst, `":`...), b)
	}
	return appendBase64(append(dst, `_base64":`...), b)
}

func appendBase64(dst, b []byte) []byte {
	dst = base64.StdEncoding.AppendEncode(append(dst, '"'), b)
	return append(dst, '"')
}

// AppendJSONHeaders appends record headers as a list of pairs, since names may repeat. A
// value that is not UTF-8 stands in base64, with "base64" behind it as a third element.
func AppendJSONHeaders(dst []byte, headers []record.Header) []byte {
	dst = append(dst, '[')
	for i := range headers {
		h := &headers[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendHeaderName(append(dst, '['), h.Key)
		switch {
		case h.Value == nil:
			dst = append(dst, `,null]`...)
		case utf8.Valid(h.Value):
			dst = append(AppendJSONBytes(append(dst, ','), h.Value), ']')
		default:
			dst = append(appendBase64(append(dst, ','), h.Value), `,"base64"]`...)
		}
	}
	return append(dst, ']')
}

// appendHeaderName appends the name of a header, which a writer should have made UTF-8.
func appendHeaderName(dst, name []byte) []byte {
	if utf8.Valid(name) {
		return AppendJSONBytes(dst, name)
	}
	return AppendJSONString(dst, string(name))
}
