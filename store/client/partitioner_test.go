package client

import (
	"crypto/md5"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// The values of Kafka's own UtilsTest, as signed 32-bit numbers.
func TestMurmur2Golden(t *testing.T) {
	for _, c := range []struct {
		key  string
		want int32
	}{
		{"", 275646681},
		{"21", -973932308},
		{"foobar", -790332482},
		{"a-little-bit-long-string", -985981536},
		{"hello", 2132663229},
	} {
		if got := int32(murmur2([]byte(c.key))); got != c.want {
			t.Errorf("murmur2(%q) = %d, want %d", c.key, got, c.want)
		}
	}
}

func TestPartition(t *testing.T) {
	for _, c := range []struct {
		key                 string
		n                   int
		crc32, md5, murmur2 int
	}{
		{"alice", 3, 2, 1, 0},
		{"bob", 3, 2, 2, 0},
		{"user-42", 3, 1, 0, 1},
		{"foobar", 10, 9, 7, 6},
		{"hello", 10, 0, 4, 9},
		{"21", 10, 2, 1, 0},
		{"anything", 1, 0, 0, 0},
		{"", 7, 0, 1, 2}, // the empty key is a key: CRC-32 of nothing is 0
	} {
		got := [3]int{}
		for i, p := range Partitioners {
			got[i] = p.Partition([]byte(c.key), c.n)
		}
		if want := [3]int{c.crc32, c.md5, c.murmur2}; got != want {
			t.Errorf("%q of %d: crc32, md5, murmur2 = %v, want %v", c.key, c.n, got, want)
		}
	}
}

// The digest is wider than any machine word: math/big is the judge.
func TestMD5IsOneBigEndianNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOf(rapid.Byte()).Draw(t, "key")
		n := rapid.IntRange(1, 1<<31-1).Draw(t, "n")
		digest := md5.Sum(key)
		want := new(big.Int).Mod(new(big.Int).SetBytes(digest[:]), big.NewInt(int64(n)))
		if got := MD5.Partition(key, n); int64(got) != want.Int64() {
			t.Fatalf("got %d, want %v", got, want)
		}
	})
}

func TestPartitionStaysInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(Partitioners).Draw(t, "partitioner")
		n := rapid.IntRange(1, 1000).Draw(t, "n")
		key := rapid.SliceOf(rapid.Byte()).Draw(t, "key")
		if got := p.Partition(key, n); got < 0 || got >= n {
			t.Fatalf("%d is not in 0..%d", got, n-1)
		}
	})
}

func TestParsePartitioner(t *testing.T) {
	for _, p := range Partitioners {
		if got, err := ParsePartitioner(p.String()); err != nil || got != p {
			t.Errorf("%v: got %v, %v", p, got, err)
		}
	}
	_, err := ParsePartitioner("sha1")
	if want := `unknown partitioner "sha1": one of crc32, md5, murmur2`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestHashesDoNotAllocate(t *testing.T) {
	key := []byte("a-little-bit-long-string")
	for _, p := range Partitioners {
		if n := testing.AllocsPerRun(100, func() { p.Partition(key, 12) }); n != 0 {
			t.Errorf("%v: %v allocations", p, n)
		}
	}
}
