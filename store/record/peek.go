package record

// PeekSize is how many bytes PeekOffset needs, whatever the format.
const PeekSize = mkb1PosBaseOffset + 8

// PeekOffset reads the base offset of a frame of format f from its first PeekSize bytes,
// without looking at the rest. Of a legacy wrapper it is the last message's offset.
func PeekOffset(prefix []byte, f Format) int64 {
	if f == MKB1 {
		return int64At(prefix, mkb1PosBaseOffset)
	}
	return int64At(prefix, posBaseOffset)
}
