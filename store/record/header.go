package record

// ViewHeader views a frame of which only the beginning need be at hand: HeaderSize bytes
// of it, or all of a smaller one. size is that of the whole frame, as it claims.
//
// What needs the rest must not be asked of such a Batch: the checksum, the records, and the
// timestamps of MKB1. See Whole. ok is false if the bytes cannot begin a frame.
func ViewHeader(prefix []byte) (b Batch, size int64, ok bool) {
	size, f, ok := Peek(prefix)
	if !ok || int64(len(prefix)) < min(size, HeaderSize) {
		return Batch{}, size, false
	}
	return Assume(prefix[:min(size, int64(len(prefix)))], size, f), size, true
}
