package message

import "testing"

// Each case was decided by Java's decoder: String(bytes, UTF_8).
func TestAppendUTF8(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"ascii and control characters stay", "a\n\t\x00\x7f", "a\n\t\x00\x7f"},
		{"two, three and four bytes", "\u00e9\u20ac\U0001f600", "\u00e9\u20ac\U0001f600"},
		{"U+FFFD itself", "\xef\xbf\xbd", "\uFFFD"},
		{"lone continuation bytes, one each", "\x80\xbf", "\uFFFD\uFFFD"},
		{"bytes that start nothing", "\xc0\xc1\xf5\xff", "\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"two-byte sequence cut by ascii", "\xc3A", "\uFFFDA"},
		{"two-byte sequence cut by the end", "\xc3", "\uFFFD"},
		{"three-byte sequence: two bytes are one part", "\xe2\x82A", "\uFFFDA"},
		{"three-byte sequence cut by the end", "\xe2\x82", "\uFFFD"},
		{"three-byte lead before ascii", "\xe2AB", "\uFFFDAB"},
		{"overlong three-byte form: each byte", "\xe0\x80\x80", "\uFFFD\uFFFD\uFFFD"},
		{"encoded surrogate, whole", "\xed\xa0\x80x", "\uFFFDx"},
		{"encoded surrogate, cut short", "\xed\xbfx", "\uFFFDx"},
		{"encoded surrogate, cut by the end", "\xed\xa0", "\uFFFD"},
		{"surrogate pair: two parts", "\xed\xa0\xbd\xed\xb8\x80", "\uFFFD\uFFFD"},
		{"four-byte sequence: three bytes are one part", "\xf0\x9f\x98A", "\uFFFDA"},
		{"four-byte sequence: two bytes are one part", "\xf0\x9fA", "\uFFFDA"},
		{"overlong four-byte form", "\xf0\x80\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"past U+10FFFF", "\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"good text around", "ab\xffcd\u00e9", "ab\uFFFDcd\u00e9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(AppendUTF8([]byte("<"), []byte(tt.in))); got != "<"+tt.want {
				t.Errorf("AppendUTF8(% x) = %q, want %q", tt.in, got, "<"+tt.want)
			}
		})
	}
}
