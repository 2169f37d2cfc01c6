// Package corrupt describes damage: what is wrong, in which file, at which byte.
//
// Damage that a reader finds is data, not a message: every layer passes the same
// typed value upwards, so that a finding keeps its byte position until it is shown.
package corrupt

import (
	"fmt"
	"strings"
)

// Kind names one sort of damage. The words are stable: text output, JSON, tests
// and the manual share them.
type Kind string

// The kinds of damage in a log, as verify-crc, check and recover print them.
const (
	// Torn: the file ends inside a batch that fits the log so far.
	Torn Kind = "torn"
	// Zeros: every byte from here to the end of the file is zero.
	Zeros Kind = "zeros"
	// Stale: valid batches behind the end whose offsets were already used.
	Stale Kind = "stale"
	// BadCRC: a whole batch with the wrong checksum (Kafka: CORRUPT_MESSAGE).
	BadCRC Kind = "bad-crc"
	// BadLength: the length field cannot be right.
	BadLength Kind = "bad-length"
	// BadMagic: the magic byte names no format.
	BadMagic Kind = "bad-magic"
	// BadOffset: a field outside the CRC (base offset, leader epoch) cannot be right.
	BadOffset Kind = "bad-offset"
	// BadRecords: the CRC is right, but the records do not parse or decompress.
	BadRecords Kind = "bad-records"
	// Garbage: bytes to the end of the file in which no batch can be found.
	Garbage Kind = "garbage"
)

// The kinds of damage in the files beside a log.
const (
	BadIndex      Kind = "bad-index"      // .index or .timeindex disagrees with the log
	MissingIndex  Kind = "missing-index"  // not there; it can be rebuilt
	BadTxnIndex   Kind = "bad-txnindex"   // .txnindex does not parse or disagrees with the log
	BadSnapshot   Kind = "bad-snapshot"   // producer .snapshot: version, CRC or length
	BadCheckpoint Kind = "bad-checkpoint" // a *-checkpoint text file
	BadMetadata   Kind = "bad-metadata"   // meta.properties, partition.metadata, quorum-state
	BadName       Kind = "bad-name"       // a file or folder name on which a broker stops
)

// Unknown stands for a size or an offset that nothing tells.
const Unknown int64 = -1

// Error is one damaged range. Codecs that work on a byte slice leave Path empty
// and count Pos from the start of the slice; the segment layer adds both once.
type Error struct {
	Path string // relative to the data directory when shown
	Pos  int64  // first damaged byte, a position in the file
	Size int64  // damaged bytes, or Unknown
	Kind Kind

	// Detail says more in words: "have 30 of 136 bytes".
	Detail string
	// Field names the damaged field of the format table where one is known.
	Field string

	// BaseOffset and LastOffset are what the damaged batch claims, or Unknown.
	BaseOffset, LastOffset int64
	// Records is how many records the damaged batch claims, or Unknown.
	Records int64

	// Stored and Computed are checksums; they count only with HasCRC.
	HasCRC           bool
	Stored, Computed uint32

	// PrevOffset is the log end in front of the damage, or Unknown.
	PrevOffset int64
	// NextPos and NextOffset are the next good batch behind the damage, or Unknown.
	NextPos, NextOffset int64
}

// New returns an Error of kind at pos with everything else unknown.
func New(kind Kind, pos, size int64, detail string) *Error {
	return &Error{
		Pos: pos, Size: size, Kind: kind, Detail: detail,
		BaseOffset: Unknown, LastOffset: Unknown, Records: Unknown,
		PrevOffset: Unknown, NextPos: Unknown, NextOffset: Unknown,
	}
}

// Newf is New with a formatted detail.
func Newf(kind Kind, pos, size int64, format string, args ...any) *Error {
	return New(kind, pos, size, fmt.Sprintf(format, args...))
}

// EpochOnly says that a batch is wrong in its leader epoch only: its offsets fit and its
// records can be read.
func (e *Error) EpochOnly() bool { return e.Kind == BadOffset && e.Field == "partitionLeaderEpoch" }

// Error renders where, what, then both values:
//
//	orders-0/00000000000000000042.log: bad-crc at byte 4096: batch 57..63: stored 0x1f2e3d4c, computed 0x5b6a7988 (CORRUPT_MESSAGE)
func (e *Error) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path)
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s at byte %d", e.Kind, e.Pos)
	switch {
	case e.BaseOffset != Unknown && e.LastOffset > e.BaseOffset:
		fmt.Fprintf(&b, ": batch %d..%d", e.BaseOffset, e.LastOffset)
	case e.BaseOffset != Unknown:
		fmt.Fprintf(&b, ": batch %d", e.BaseOffset)
	}
	if e.HasCRC {
		fmt.Fprintf(&b, ": stored 0x%08x, computed 0x%08x", e.Stored, e.Computed)
	}
	if e.Detail != "" {
		b.WriteString(": ")
		b.WriteString(e.Detail)
	}
	if name := e.Kind.KafkaName(); name != "" {
		fmt.Fprintf(&b, " (%s)", name)
	}
	return b.String()
}

// KafkaName is the error name under which a Kafka user would search for the kind,
// or "" where Kafka has none.
func (k Kind) KafkaName() string {
	switch k {
	case Torn, Zeros, Garbage, BadCRC, BadLength, BadMagic, BadOffset, BadRecords:
		return "CORRUPT_MESSAGE"
	}
	return ""
}
