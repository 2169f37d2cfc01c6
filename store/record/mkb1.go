package record

import (
	"errors"

	"logdir/store/corrupt"
)

// Positions in an MKB1 frame. Part of the on-disk format; never change.
const (
	mkb1PosLength          = 4
	mkb1PosCRC             = 8
	mkb1PosPayload         = 12
	mkb1PosBaseOffset      = mkb1PosPayload + 1
	mkb1PosLeaderEpoch     = mkb1PosPayload + 9
	mkb1PosProducerID      = mkb1PosPayload + 13
	mkb1PosProducerEpoch   = mkb1PosPayload + 21
	mkb1PosBaseSequence    = mkb1PosPayload + 25
	mkb1PosFlags           = mkb1PosPayload + 29
	mkb1PosLastOffsetDelta = mkb1PosPayload + 30
	mkb1PosRecordsCount    = mkb1PosPayload + 36

	// MKB1HeaderSize is the smallest frame: magic, length, CRC, payload header.
	MKB1HeaderSize = mkb1PosPayload + 40

	mkb1MaxPayload = 16 << 20
)

// Flags of an MKB1 frame. Part of the on-disk format; never change.
const (
	mkb1Transactional = 1 << iota
	mkb1Commit
	mkb1Abort
)

// mkb1State is what a Reader keeps while it reads an MKB1 frame.
type mkb1State struct{}

// checkMKB1 judges the payload header of a frame whose length is right.
func checkMKB1(raw []byte) *corrupt.Error { return nil }

// mkb1Timestamps are the first and the largest timestamp of the frame's records.
func mkb1Timestamps(raw []byte) (base, largest int64) { return NoTimestamp, NoTimestamp }

func mkb1TransactionalID(raw []byte) []byte { return nil }

func (r *Reader) resetMKB1() { r.fail(0, len(r.batch.raw), "MKB1 is not read yet") }

func (r *Reader) nextMKB1() bool { return false }

// appendMKB1 adds one record to b.records.
func (b *Builder) appendMKB1(r *Record) {}

// buildMKB1 appends the frame of everything in b.
func (b *Builder) buildMKB1(dst []byte) ([]byte, error) {
	return dst, errors.New("MKB1 is not written yet")
}

// mkb1RecordSize is the exact size of r in a frame.
func mkb1RecordSize(r *Record) int { return 0 }
