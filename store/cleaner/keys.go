package cleaner

import "crypto/md5"

// defaultKeys is how many keys fit into Kafka's buffer of 128 MiB: 24 bytes each, and no
// more than nine tenths of it filled.
const defaultKeys = 128 << 20 / 24 * 9 / 10

// keys notes the last offset of each key. Like Kafka's map it knows keys by their MD5.
type keys struct {
	offsets map[[md5.Size]byte]int64
	limit   int
}

func newKeys(limit int) *keys {
	if limit <= 0 {
		limit = defaultKeys
	}
	return &keys{offsets: map[[md5.Size]byte]int64{}, limit: limit}
}

// put notes that key stands at offset; it is false if there is no more room.
func (k *keys) put(key []byte, offset int64) bool {
	if len(k.offsets) >= k.limit {
		return false
	}
	k.offsets[md5.Sum(key)] = offset
	return true
}

// newer tells whether key was noted at an offset beyond this one.
func (k *keys) newer(key []byte, offset int64) bool {
	last, ok := k.offsets[md5.Sum(key)]
	return ok && last > offset
}
