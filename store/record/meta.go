package record

import "logdir/store/compress"

// Meta is what a batch says about itself beside its records.
type Meta struct {
	// Format is V2 or MKB1. The zero value means V2 too: v0 and v1 are never written.
	Format      Format
	BaseOffset  int64
	LeaderEpoch int32 // or NoLeaderEpoch
	Codec       compress.Codec

	// TimestampType is CreateTime, or LogAppendTime: then AppendTime, ms, becomes the
	// batch's maxTimestamp and with it the time of every record.
	TimestampType TimestampType
	AppendTime    int64

	ProducerID    int64 // or NoProducerID
	ProducerEpoch int32 // or NoProducerEpoch; 16 bits in v2
	BaseSequence  int32 // or NoSequence

	Transactional, Control bool

	// LastOffset is the last offset the batch takes, if that is beyond its last record's:
	// compaction leaves such batches. Zero, or anything lower, means the last record's.
	LastOffset int64
	// DeleteHorizon, ms, counts only with HasDeleteHorizon (KIP-534, v2 only).
	HasDeleteHorizon bool
	DeleteHorizon    int64

	// TransactionalID and Marker are MKB1's: the id stands in every transactional frame,
	// and a control frame has flags for Commit and Abort instead of a record.
	TransactionalID string
	Marker          ControlType
}

// NoProducer is a Meta with everything unset that can be: a plain v2 batch at base offset 0.
func NoProducer() Meta {
	return Meta{
		Format:        V2,
		LeaderEpoch:   NoLeaderEpoch,
		ProducerID:    NoProducerID,
		ProducerEpoch: NoProducerEpoch,
		BaseSequence:  NoSequence,
	}
}

// Meta is everything a Builder needs to write the batch again with other records, as
// compaction does. A legacy batch becomes a v2 batch without producer.
func (b *Batch) Meta() Meta {
	m := NoProducer()
	m.BaseOffset, m.LastOffset = b.BaseOffset(), b.LastOffset()
	m.LeaderEpoch, m.Codec = b.LeaderEpoch(), b.Codec()
	if t := b.TimestampType(); t == LogAppendTime {
		m.TimestampType, m.AppendTime = t, b.MaxTimestamp()
	}
	m.ProducerID, m.ProducerEpoch, m.BaseSequence = b.ProducerID(), b.ProducerEpoch(), b.BaseSequence()
	m.Transactional, m.Control = b.IsTransactional(), b.IsControl()
	m.DeleteHorizon, m.HasDeleteHorizon = b.DeleteHorizon()
	if b.format == MKB1 {
		m.Format, m.TransactionalID = MKB1, string(mkb1TransactionalID(b.raw))
		m.Marker, _ = b.Marker()
	}
	return m
}

// Marker is the control type in the flags of an MKB1 frame. Kafka's control batches keep
// theirs in a record: see ParseEndTxnMarker.
func (b *Batch) Marker() (ControlType, bool) {
	if b.format != MKB1 || !b.IsControl() {
		return 0, false
	}
	if b.Attributes()&mkb1Commit != 0 {
		return Commit, true
	}
	return Abort, true
}
