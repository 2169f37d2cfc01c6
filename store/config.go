package store

import (
	"log/slog"
	"time"

	"logdir/store/record"
)

// Fsync says when appended bytes are forced to the disk.
type Fsync uint8

// The policies of --fsync.
const (
	FsyncClose  Fsync = iota // once, when the log is closed
	FsyncAlways              // before each append is answered
	FsyncNever               // never: the operating system decides
)

var fsyncNames = []string{"close", "always", "never"}

// String is the word that --fsync takes.
func (f Fsync) String() string { return fsyncNames[f] }

// ParseFsync reads the value of --fsync.
func ParseFsync(s string) (Fsync, error) {
	for i, name := range fsyncNames {
		if s == name {
			return Fsync(i), nil
		}
	}
	return 0, Errorf(Usage, "INVALID_REQUEST", "fsync %q: want always, close or never", s)
}

// Config says how a log is written. The zero value of each field is Kafka's default.
type Config struct {
	// TopicPartition is for messages and the structured log; empty, the directory's
	// name tells.
	TopicPartition
	// Name is the partition directory as messages show it; empty, its path.
	Name string
	// DataDir is the data directory as the next command is to name it; empty, not at all.
	DataDir string
	// Format is what is appended: record.V2, or record.MKB1, which has no time index
	// and no producer snapshots.
	Format record.Format
	// SegmentBytes, SegmentMs, IndexInterval and MaxMessageBytes are Kafka's
	// segment.bytes, segment.ms, index.interval.bytes and max.message.bytes.
	SegmentBytes    int64
	SegmentMs       int64
	IndexInterval   int
	MaxMessageBytes int
	// DedupWindow is how many batches of a producer are remembered.
	DedupWindow int
	// LogStart is the checkpointed log start offset, 0 if there is none.
	LogStart int64
	// RecoveryPoint is the checkpointed recovery point: everything below is synced. 0 if
	// there is none.
	RecoveryPoint int64
	Fsync         Fsync
	// Now is the clock for producer expiry.
	Now func() time.Time
	// Log gets a line for each append, roll and truncation.
	Log *slog.Logger
	// Fail decides about failpoints.
	Fail Failpoints
}

// Kafka's defaults.
const (
	DefaultSegmentBytes    = 1 << 30
	DefaultSegmentMs       = 7 * 24 * 3600 * 1000
	DefaultIndexInterval   = 4096
	DefaultMaxMessageBytes = 1048588
	DefaultDedupWindow     = 5
)

func (c Config) withDefaults() Config {
	if c.Format == 0 {
		c.Format = record.V2
	}
	c.SegmentBytes = orDefault(c.SegmentBytes, DefaultSegmentBytes)
	c.SegmentMs = orDefault(c.SegmentMs, DefaultSegmentMs)
	c.IndexInterval = orDefault(c.IndexInterval, DefaultIndexInterval)
	c.MaxMessageBytes = orDefault(c.MaxMessageBytes, DefaultMaxMessageBytes)
	c.DedupWindow = orDefault(c.DedupWindow, DefaultDedupWindow)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Fail == nil {
		c.Fail = never{}
	}
	return c
}

func orDefault[T int | int64](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}
