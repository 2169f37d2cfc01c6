package message

import "unicode/utf8"

// replacement is U+FFFD as UTF-8.
const replacement = "\uFFFD"

// AppendUTF8 appends b as Java's UTF-8 decoder shows it, which is what Kafka's tools
// print for keys, values and header keys: line breaks and control characters stay,
// and each malformed part becomes one U+FFFD. A part is the longest start of a valid
// sequence, or else one byte; an encoded surrogate (ED A0..BF) is one part, whole or
// cut short. Go's own conversion would give one U+FFFD a byte.
func AppendUTF8(dst, b []byte) []byte {
	if utf8.Valid(b) {
		return append(dst, b...)
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			n = malformedLen(b)
			dst = append(dst, replacement...)
		} else {
			dst = append(dst, b[:n]...)
		}
		b = b[n:]
	}
	return dst
}

// malformedLen is the length of the malformed part at the start of b, which does not
// begin with a valid sequence.
func malformedLen(b []byte) int {
	want := sequenceLen(b[0])
	if want < 2 || len(b) < 2 || !secondByteFits(b[0], b[1]) {
		return 1
	}
	n := 2
	for n < want && n < len(b) && continues(b[n]) {
		n++
	}
	return n
}

// sequenceLen is how many bytes the sequence that lead starts would have, 1 if lead
// starts none (continuation bytes, C0, C1, F5 and above).
func sequenceLen(lead byte) int {
	switch {
	case lead >= 0xc2 && lead <= 0xdf:
		return 2
	case lead >= 0xe0 && lead <= 0xef:
		return 3
	case lead >= 0xf0 && lead <= 0xf4:
		return 4
	}
	return 1
}

// secondByteFits says whether Java reads second as part of the sequence of lead. It
// tells overlong forms and code points past U+10FFFF by the second byte, but a
// surrogate only when the sequence is complete.
func secondByteFits(lead, second byte) bool {
	switch lead {
	case 0xe0:
		return second >= 0xa0 && second <= 0xbf
	case 0xf0:
		return second >= 0x90 && second <= 0xbf
	case 0xf4:
		return second >= 0x80 && second <= 0x8f
	}
	return continues(second)
}

func continues(b byte) bool { return b&0xc0 == 0x80 }
