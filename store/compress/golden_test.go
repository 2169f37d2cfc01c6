package compress

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unhex reads hex with blanks, line breaks and // comments.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	var digits strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// threeRecords are the records (1700000000000, "k", "v1"), (1700000000005, null, "v2")
// and (1700000000003, "k", null) of a v2 batch, which every golden stream below packs.
const threeRecords = `
	12 00 00 00 02 6b 04 76 31 00
	10 00 0a 02 01 04 76 32 00
	0e 00 06 04 02 6b 01 00`

// golden are streams that Apache Kafka 4.4's own classes wrote.
var golden = []struct {
	codec  Codec
	packed string
	// exact says that we write these very bytes too.
	exact bool
}{
	{Gzip, `
		1f 8b 08 00 00000000 00 ff                    // no name, no time, system unknown
		13 62 60 60 60 ca 66 29 33 64 10 60 e0 62 62 64 29 33 62 e0 63 60 63 61 ca 66 64 00 00
		b4 ab a4 f9 1b 00 00 00                       // CRC-32, 27 bytes
		`, false},
	{Snappy, `
		82 53 4e 41 50 50 59 00 00000001 00000001     // magic, version, compatible
		0000001d 1b 68                                // chunk of 29, block of 27: 27 literals
		12 00 00 00 02 6b 04 76 31 00 10 00 0a 02 01 04 76 32 00 0e 00 06 04 02 6b 01 00`, true},
	{LZ4, `
		04 22 4d 18 60 40 82
		1b000080                                      // 27 bytes, stored
		12 00 00 00 02 6b 04 76 31 00 10 00 0a 02 01 04 76 32 00 0e 00 06 04 02 6b 01 00
		00000000`, true},
	{Zstd, `
		28 b5 2f fd 00 58                             // no content size, window of 2 MiB
		d80000                                        // raw block of 27, not the last
		12 00 00 00 02 6b 04 76 31 00 10 00 0a 02 01 04 76 32 00 0e 00 06 04 02 6b 01 00
		010000                                        // empty block, the last`, false},
}

func TestDecodeKafkasStreams(t *testing.T) {
	want := unhex(t, threeRecords)
	for _, g := range golden {
		t.Run(g.codec.String(), func(t *testing.T) {
			got, err := NewDecoder().Decode([]byte("before"), unhex(t, g.packed), g.codec, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("before"+string(want), string(got)); diff != "" {
				t.Errorf("unpacked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEncodeKafkasStreams(t *testing.T) {
	for _, g := range golden {
		if !g.exact {
			continue
		}
		got, err := NewEncoder().Encode(nil, unhex(t, threeRecords), g.codec)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(hex.EncodeToString(unhex(t, g.packed)), hex.EncodeToString(got)); diff != "" {
			t.Errorf("%s (-Kafka +ours):\n%s", g.codec, diff)
		}
	}
}

// threeMessages are the same records as v1 messages; repetition enough for matches.
const threeMessages = `
	0000000000000000 00000019 3e731674 01 00 0000018bcfe56800 00000001 6b 00000002 7631
	0000000000000001 00000018 820bfd03 01 00 0000018bcfe56805 ffffffff 00000002 7632
	0000000000000002 00000017 68de2ac5 01 00 0000018bcfe56803 00000001 6b ffffffff`

// wrappedMessages are the values of the wrappers that Kafka made of them.
var wrappedMessages = []struct {
	codec  Codec
	packed string
}{
	{LZ4, `
		04 22 4d 18 60 40 82 53000000 16000100e0193e73167401000000018bcfe568180080016b0000000276310c
		000018008500000018820bfd0325005105ffffffff240011322200b50000020000001768de2ac52400a00300000001
		6bffffffff 00000000`},
	{Snappy, `
		82 53 4e 41 50 50 59 00 00000001 00000001 00000054
		6c0000190134193e73167401000000018bcfe56801181c016b000000027631010c01181c00000018820bfd03010905
		251005ffffffff0524043200090120020000001768de2ac515242403000000016bffffffff`},
}

func TestWrappersOfKafka(t *testing.T) {
	want := unhex(t, threeMessages)
	for _, w := range wrappedMessages {
		got, err := NewDecoder().Decode(nil, unhex(t, w.packed), w.codec, Options{})
		if err != nil {
			t.Errorf("%s: %v", w.codec, err)
		}
		if diff := cmp.Diff(hex.EncodeToString(want), hex.EncodeToString(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", w.codec, diff)
		}
	}
}

// TestLZ4MatchesLikeKafka: our lz4 finds the matches of the C library, so that the whole
// frame is Kafka's to the byte.
func TestLZ4MatchesLikeKafka(t *testing.T) {
	got, err := NewEncoder().Encode(nil, unhex(t, threeMessages), LZ4)
	if err != nil {
		t.Fatal(err)
	}
	want := hex.EncodeToString(unhex(t, wrappedMessages[0].packed))
	if diff := cmp.Diff(want, hex.EncodeToString(got)); diff != "" {
		t.Errorf("(-Kafka +ours):\n%s", diff)
	}
}

func TestXXH32(t *testing.T) {
	for _, c := range []struct {
		in   string
		want uint32
	}{
		{"", 0x02cc5d05},
		{"a", 0x550d7456},
		{"abc", 0x32d153ff},
		{"\x60\x40", 0x00008200},
		{"Nobody inspects the spammish repetition", 0xe2293b2f},
	} {
		got := xxh32([]byte(c.in))
		if c.in == "\x60\x40" {
			got &= 0xff00 // the header checksum that Kafka's frames have
		}
		if got != c.want {
			t.Errorf("xxh32(%q) = %08x, want %08x", c.in, got, c.want)
		}
	}
}
