package compress

import "testing"

func TestCodecNames(t *testing.T) {
	for _, c := range Codecs() {
		got, err := ParseCodec(c.String())
		if err != nil || got != c {
			t.Errorf("ParseCodec(%q) = %v, %v; want %v", c.String(), got, err, c)
		}
	}
	for _, name := range []string{"", "LZ4", "producer", "unknown(5)"} {
		if c, err := ParseCodec(name); err == nil {
			t.Errorf("ParseCodec(%q) = %v, want an error", name, c)
		}
	}
	for bits := range 8 {
		if got, want := Codec(bits).Valid(), bits <= 4; got != want {
			t.Errorf("Codec(%d).Valid() = %v, want %v", bits, got, want)
		}
	}
}
