package record

import "logdir/store/corrupt"

// Positions in a v0 or v1 entry. Part of the on-disk format; never change.
const (
	legacyPosCRC        = 12
	legacyPosMagic      = 16
	legacyPosAttributes = 17
	legacyPosTimestamp  = 18 // v1 only
)

// legacyState is what a Reader keeps while it reads a v0 or v1 batch.
type legacyState struct{}

// checkLegacy judges the header of a frame whose length is right.
func checkLegacy(raw []byte, f Format) *corrupt.Error { return nil }

// resetLegacy begins to read r.batch, which is v0 or v1; a refusal goes to r.fail.
func (r *Reader) resetLegacy() { r.fail(0, len(r.batch.raw), "v0 and v1 are not read yet") }

// nextLegacy puts the next record into r.rec.
func (r *Reader) nextLegacy() bool { return false }

// legacyValueSize is the bytes of the message's value, which ends the frame.
func (b *Batch) legacyValueSize() int { return 0 }
