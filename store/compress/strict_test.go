package compress

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"logdir/store/corrupt"
)

// stream is bytes that Kafka accepts or refuses. Accepted ones unpack to "hello hello
// hello hello" unless want says otherwise.
type stream struct {
	name   string
	hex    string
	want   string // what it unpacks to; "-" is nothing
	pos    int64  // of the damage, with detail
	detail string // "" where Kafka accepts it
}

const hello = "hello hello hello hello"

func checkStreams(t *testing.T, c Codec, o Options, streams []stream) {
	t.Helper()
	d := NewDecoder()
	for _, s := range streams {
		t.Run(s.name, func(t *testing.T) {
			got, err := d.Decode(nil, unhex(t, s.hex), c, o)
			if s.detail == "" {
				if want := s.unpacked(); err != nil || string(got) != want {
					t.Errorf("got %q, %v; want %q", got, err, want)
				}
				return
			}
			bad, ok := errors.AsType[*corrupt.Error](err)
			if !ok {
				t.Fatalf("got %q, %v; want %s at %d", got, err, s.detail, s.pos)
			}
			if bad.Kind != corrupt.BadRecords || bad.Pos != s.pos || bad.Detail != s.detail {
				t.Errorf("got %s at %d: %q; want %s at %d: %q",
					bad.Kind, bad.Pos, bad.Detail, corrupt.BadRecords, s.pos, s.detail)
			}
		})
	}
}

func (s stream) unpacked() string {
	switch s.want {
	case "":
		return hello
	case "-":
		return ""
	}
	return s.want
}

// The block "hello hello hello hello": 6 literals, a match of 12 at distance 6, and the
// last 5 bytes as literals.
const helloBlock = ` 68 68656c6c6f20 0600 50 68656c6c6f `

// The same as 23 literals in a block that is stored.
const helloStored = ` 68656c6c6f2068656c6c6f2068656c6c6f2068656c6c6f `

func TestLZ4AsStrictAsKafka(t *testing.T) {
	checkStreams(t, LZ4, Options{}, []stream{
		{name: "as Kafka writes it", hex: `04224d18 60 40 82 0f000000` + helloBlock + `00000000`},
		{name: "stored", hex: `04224d18 60 40 82 17000080` + helloStored + `00000000`},
		{name: "two blocks", hex: `04224d18 60 40 82
			0f000000` + helloBlock + `17000080` + helloStored + `00000000`, want: hello + hello},
		{name: "content checksum is read but not compared", hex: `04224d18 64 40 a7 0f000000` + helloBlock + `00000000 deadbeef`},
		{name: "content size is skipped, right or wrong", hex: `04224d18 68 40 ffffffffffffffff a7 0f000000` + helloBlock + `00000000`},
		{name: "block checksum", hex: `04224d18 70 40 ad 17000080` + helloStored + `f26b940b 00000000`},
		{name: "a second frame is not read", hex: `04224d18 60 40 82 0f000000` + helloBlock + `00000000
			04224d18 60 40 82 0f000000` + helloBlock + `00000000`},
		{name: "garbage behind the frame is not read", hex: `04224d18 60 40 82 0f000000` + helloBlock + `00000000 ff`},
		{name: "empty", hex: `04224d18 60 40 82 00000000 `, want: "-"},

		{name: "nothing", hex: ``, pos: 0, detail: "lz4: frame ends early"},
		{name: "no magic", hex: `04224d19 60 40 82 00000000`, pos: 0, detail: "lz4: no frame magic"},
		{name: "legacy frame of the lz4 tool", hex: `02214c18 60 40 82 00000000`, pos: 0, detail: "lz4: no frame magic"},
		{name: "version 2", hex: `04224d18 a0 40 82 00000000`, pos: 4, detail: "lz4: version 2 of the frame is not supported"},
		{name: "dictionary", hex: `04224d18 61 40 82 00000000`, pos: 4, detail: "lz4: reserved bits are set"},
		{name: "dependent blocks", hex: `04224d18 40 40 c0 00000000`, pos: 4, detail: "lz4: dependent blocks are not supported"},
		{name: "block size 3", hex: `04224d18 60 30 82 00000000`, pos: 5, detail: "lz4: block size byte 0x30 is not supported"},
		{name: "block size with a reserved bit", hex: `04224d18 60 c0 82 00000000`, pos: 5, detail: "lz4: block size byte 0xc0 is not supported"},
		{
			name: "header checksum of v0", hex: `04224d18 60 40 1a 0f000000` + helloBlock + `00000000`,
			pos: 6, detail: "lz4: header checksum 0x1a, computed 0x82",
		},
		{name: "cut in the content size", hex: `04224d18 68 40 ffffffff`, pos: 6, detail: "lz4: frame ends early"},
		{
			name: "block checksum wrong", hex: `04224d18 70 40 ad 17000080` + helloStored + `01020304 00000000`,
			pos: 11, detail: "lz4: block checksum 0x04030201, computed 0x0b946bf2",
		},
		{
			name: "block larger than the frame allows", hex: `04224d18 60 40 82 01000100` + helloBlock,
			pos: 7, detail: "lz4: block of 65537 bytes, more than 65536",
		},
		{
			name: "block longer than what is left", hex: `04224d18 60 40 82 10000000` + helloBlock,
			pos: 7, detail: "lz4: frame ends early",
		},
		{
			name: "match before the beginning", hex: `04224d18 60 40 82 0f000000 68 68656c6c6f20 0700 50 68656c6c6f 00000000`,
			pos: 11, detail: "lz4: block does not unpack",
		},
		{
			name: "match at distance 0", hex: `04224d18 60 40 82 0f000000 68 68656c6c6f20 0000 50 68656c6c6f 00000000`,
			pos: 11, detail: "lz4: block does not unpack",
		},
		{name: "block ends in a match", hex: `04224d18 60 40 82 09000000 68 68656c6c6f20 0600 00000000`, pos: 11, detail: "lz4: block does not unpack"},
		{name: "block ends in four literals", hex: `04224d18 60 40 82 0e000000 68 68656c6c6f20 0600 40 68656c6c 00000000`, pos: 11, detail: "lz4: block does not unpack"},
		{name: "no end mark", hex: `04224d18 60 40 82 0f000000` + helloBlock, pos: 26, detail: "lz4: no end mark"},
		{
			name: "no content checksum", hex: `04224d18 64 40 a7 0f000000` + helloBlock + `00000000`,
			pos: 26, detail: "lz4: frame ends early",
		},
	})
}

// TestLZ4OfFormatV0: producers of v0 wrote a wrong header checksum, which is therefore
// not compared there; everything else is.
func TestLZ4OfFormatV0(t *testing.T) {
	checkStreams(t, LZ4, Options{LegacyLZ4: true}, []stream{
		{name: "wrong as of old", hex: `04224d18 60 40 1a 0f000000` + helloBlock + `00000000`},
		{name: "right", hex: `04224d18 60 40 82 0f000000` + helloBlock + `00000000`},
		{name: "dependent blocks", hex: `04224d18 40 40 00 00000000`, pos: 4, detail: "lz4: dependent blocks are not supported"},
	})
}

func TestLZ4OfOtherEncoders(t *testing.T) {
	for name, options := range map[string][]lz4.Option{
		"franz-go":     {},
		"sarama":       {lz4.BlockSizeOption(lz4.Block64Kb)},
		"kafka-python": {lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false), lz4.SizeOption(300_000)},
		"checksums":    {lz4.BlockChecksumOption(true), lz4.BlockSizeOption(lz4.Block256Kb)},
	} {
		want := bytes.Repeat([]byte("0123456789ab"), 25_000)
		var packed bytes.Buffer
		w := lz4.NewWriter(&packed)
		if err := w.Apply(options...); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(want); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := NewDecoder().Decode(nil, packed.Bytes(), LZ4, Options{})
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: unpacked %d of %d bytes: %v", name, len(got), len(want), err)
		}
	}
}

const xerialHead = ` 82534e4150505900 00000001 00000001 `

func TestSnappyAsStrictAsKafka(t *testing.T) {
	checkStreams(t, Snappy, Options{}, []stream{
		{name: "bare block", hex: `17 58` + helloStored},
		{name: "bare block with a copy", hex: `17 14 68656c6c6f20 42 0600`},
		{name: "xerial", hex: xerialHead + `00000019 17 58` + helloStored},
		{name: "two chunks", hex: xerialHead + `00000019 17 58` + helloStored + `00000003 01 00 21`, want: hello + "!"},
		{name: "two streams in a row", hex: xerialHead + `00000003 01 00 21` + xerialHead + `00000003 01 00 3f`, want: "!?"},
		{name: "a later version that says so", hex: `82534e4150505900 00000002 00000001 00000019 17 58` + helloStored},
		{name: "up to three bytes behind the last chunk are not seen", hex: xerialHead + `00000003 01 00 21 ffffff`, want: "!"},
		{name: "header only", hex: xerialHead, want: "-"},

		{name: "nothing", hex: ``, pos: 0, detail: "snappy: impossible length of a block"},
		{
			name: "version 0", hex: `82534e4150505900 00000000 00000000 00000003 01 00 21`,
			pos: 8, detail: "snappy: version 0 of the stream is too old",
		},
		{
			name: "cut header is a bare block, and none", hex: `82534e4150505900 00000001 000000`,
			pos: 0, detail: "snappy: impossible length of a block",
		},
		{
			name: "S2's repeat of the last distance", hex: `17 14 68656c6c6f20 42 0000`,
			pos: 0, detail: "snappy: block does not unpack",
		},
		{
			name: "chunk too long", hex: xerialHead + `0000001a 17 58` + helloStored,
			pos: 16, detail: "snappy: chunk of 26 bytes, but 25 are left",
		},
		{
			name: "chunk of negative length", hex: xerialHead + `ffffffff 17 58` + helloStored,
			pos: 16, detail: "snappy: chunk of 4294967295 bytes, but 25 are left",
		},
		{name: "empty chunk", hex: xerialHead + `00000000`, pos: 20, detail: "snappy: impossible length of a block"},
		{
			name: "block claims 4 GiB", hex: xerialHead + `00000007 ffffffff0f 00 21`,
			pos: 20, detail: "snappy: impossible length of a block",
		},
		{name: "block is shorter than it claims", hex: xerialHead + `00000003 02 00 21`, pos: 20, detail: "snappy: block does not unpack"},
		{
			name: "second header broken", hex: xerialHead + `00000003 01 00 21 82534e41 50505901 00000001 00000001`,
			pos: 23, detail: "snappy: broken header of a concatenated stream",
		},
	})
}

// member packs text as one gzip member.
func member(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(b.Bytes())
}

func TestGzipLikeJava(t *testing.T) {
	one := member(t, hello)
	size := int64(len(unhex(t, one)))
	checkStreams(t, Gzip, Options{}, []stream{
		{name: "one member", hex: one},
		{name: "two members", hex: one + member(t, "!"), want: hello + "!"},
		{name: "garbage behind is ignored", hex: one + `0102030405060708090a0b0c0d0e0f101112131415`},
		{name: "zeros behind are ignored", hex: one + `0000000000000000000000000000000000000000000000000000`},
		{name: "the header of a member behind is ignored", hex: one + `1f8b0800000000000 0ff`},
		{name: "empty", hex: member(t, ""), want: "-"},

		{name: "nothing", hex: ``, pos: 0, detail: "gzip: stream ends early"},
		{name: "zlib", hex: `789c cb48cdc9c95748c84c01001a0b045d`, pos: 10, detail: "gzip: invalid header"},
		{name: "cut in the data", hex: one[:40], pos: 20, detail: "gzip: stream ends early"},
		{name: "cut in the trailer", hex: one[:len(one)-2], pos: size - 1, detail: "gzip: stream ends early"},
		{name: "wrong length", hex: one[:len(one)-2] + `01`, pos: size, detail: "gzip: invalid checksum"},
		{name: "second member cut", hex: one + member(t, hello)[:60], pos: size + 30, detail: "gzip: stream ends early"},
	})
}

func TestZstd(t *testing.T) {
	const frame = `28b52ffd 00 58 b90000` + helloStored // last block, raw, 23 bytes
	checkStreams(t, Zstd, Options{}, []stream{
		{name: "as Kafka writes it", hex: `28b52ffd 00 58 b80000` + helloStored + `010000`},
		{name: "content size", hex: `28b52ffd 20 17 b90000` + helloStored},
		{name: "two frames", hex: frame + frame, want: hello + hello},
		{name: "skippable frame", hex: `502a4d18 03000000 010203` + frame},

		{name: "nothing", hex: ``, pos: 0, detail: "zstd: no frame"},
		{name: "no magic", hex: `28b52ffe 00 58 b90000`, pos: 0, detail: "zstd: invalid input: magic number mismatch"},
		{name: "garbage behind the frame", hex: frame + `0102030405`, pos: 0, detail: "zstd: invalid input: magic number mismatch"},
		{name: "cut", hex: frame[:30], pos: 0, detail: "zstd: unexpected EOF"},
		{
			name: "wrong content size", hex: `28b52ffd 20 18 b90000` + helloStored, pos: 0,
			detail: "zstd: " + zstd.ErrFrameSizeMismatch.Error(),
		},
		{
			name: "window of 1 GiB", hex: `28b52ffd 00 a0 b90000` + helloStored, pos: 0,
			detail: "zstd: " + zstd.ErrWindowSizeExceeded.Error(),
		},
	})
}

func TestUnknownCodec(t *testing.T) {
	for c := Codec(5); c < 8; c++ {
		_, err := NewDecoder().Decode(nil, []byte("x"), c, Options{})
		if bad, ok := errors.AsType[*corrupt.Error](err); !ok || bad.Kind != corrupt.BadRecords {
			t.Errorf("codec %d: %v, want bad-records", c, err)
		}
		if _, err := NewEncoder().Encode(nil, []byte("x"), c); err == nil {
			t.Errorf("codec %d packs", c)
		}
	}
}
