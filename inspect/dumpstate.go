package inspect

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/producer"
	"logdir/store/vfs"
)

// maxStateFile bounds what is read of a small file: the snapshot of a million producers
// is below it.
const maxStateFile = 64 << 20

// state dumps the small files: snapshots, transaction indexes, checkpoints and the like.
func (d *Dumper) state(f *DumpFile, src vfs.ReadFile, size int64) error {
	if f.Kind == TxnIndexFile {
		return d.txnIndex(f, src, size)
	}
	data, err := vfs.ReadAll(d.FS, f.Path, maxStateFile)
	if err != nil {
		return err
	}
	switch f.Kind {
	case ProducerSnapshotFile:
		err = d.snapshot(f, data)
	case OffsetCheckpointFile:
		err = d.offsetCheckpoint(f, data)
	case EpochCheckpointFile:
		err = d.epochCheckpoint(f, data)
	case PartitionMetadataFile:
		err = d.partitionMetadata(f, data)
	case MetaPropertiesFile:
		err = d.metaProperties(f, data)
	case QuorumStateFile:
		err = d.quorumState(f, data)
	}
	return d.sort(f, err)
}

// sort keeps damage for the report and lets other errors through.
func (d *Dumper) sort(f *DumpFile, err error) error {
	if damage, ok := errors.AsType[*corrupt.Error](err); ok {
		d.damaged(damage, f.Name)
		return nil
	}
	return err
}

func (d *Dumper) row(f *DumpFile, fields ...Field) { d.out = d.Printer.Row(d.out, f, fields) }

func (d *Dumper) txnIndex(f *DumpFile, src io.ReaderAt, size int64) error {
	x := index.NewTxnIndex(src, size, f.BaseOffset)
	for t, err := range x.All() {
		if err != nil {
			return d.sort(f, err)
		}
		d.row(f, number("version", 0), number("producerId", t.ProducerID),
			number("firstOffset", t.FirstOffset), number("lastOffset", t.LastOffset),
			number("lastStableOffset", t.LastStableOffset))
		if err := d.spill(); err != nil {
			return err
		}
	}
	return d.sort(f, x.Check())
}

func (d *Dumper) snapshot(f *DumpFile, data []byte) error {
	entries, err := producer.ParseSnapshot(data)
	for i := range entries {
		e := &entries[i]
		fields := []Field{
			number("producerId", e.ProducerID),
			number("producerEpoch", e.ProducerEpoch),
			number("coordinatorEpoch", e.CoordinatorEpoch),
			optional("currentTxnFirstOffset", e.TxnFirstOffset),
			number("lastTimestamp", e.Timestamp),
		}
		if e.LastOffset >= 0 {
			fields = append(fields,
				number("firstSequence", e.FirstSequence()),
				number("lastSequence", e.LastSequence),
				number("lastOffset", e.LastOffset),
				number("offsetDelta", e.OffsetDelta),
				number("timestamp", e.Timestamp))
		}
		d.row(f, fields...)
	}
	return err
}

func (d *Dumper) offsetCheckpoint(f *DumpFile, data []byte) error {
	entries, err := checkpoint.ParseOffsets(data)
	for _, e := range entries {
		d.row(f, text("topic", e.Topic), number("partition", e.Partition),
			number("offset", e.Offset))
	}
	return err
}

func (d *Dumper) epochCheckpoint(f *DumpFile, data []byte) error {
	entries, err := checkpoint.ParseEpochs(data)
	for _, e := range entries {
		d.row(f, number("epoch", e.Epoch), number("startOffset", e.StartOffset))
	}
	return err
}

func (d *Dumper) partitionMetadata(f *DumpFile, data []byte) error {
	m, err := checkpoint.ParsePartitionMetadata(data)
	if err != nil {
		return err
	}
	d.row(f, number("version", m.Version), text("topic_id", m.TopicID.String()))
	return nil
}

func (d *Dumper) metaProperties(f *DumpFile, data []byte) error {
	properties, err := checkpoint.ParseProperties(data)
	fields := make([]Field, 0, len(properties))
	for _, p := range properties {
		fields = append(fields, text(p.Key, p.Value))
	}
	if len(fields) > 0 {
		d.row(f, fields...)
	}
	if err == nil {
		_, err = checkpoint.ParseMetaProperties(data)
	}
	return err
}

func (d *Dumper) quorumState(f *DumpFile, data []byte) error {
	q, err := checkpoint.ParseQuorumState(data)
	if err != nil {
		return err
	}
	d.row(f, quorumFields(&q)...)
	return nil
}

// quorumFields are those that the file's version has, under its own names.
func quorumFields(q *checkpoint.QuorumState) []Field {
	fields := []Field{
		number("leaderId", q.LeaderID), number("leaderEpoch", q.LeaderEpoch), number("votedId", q.VotedID),
	}
	if q.DataVersion == 0 {
		var voters []string
		for _, id := range q.CurrentVoters {
			voters = append(voters, strconv.Itoa(int(id)))
		}
		fields = append(fields, text("clusterId", q.ClusterID), number("appliedOffset", q.AppliedOffset),
			text("currentVoters", strings.Join(voters, ",")))
	} else {
		fields = append(fields, text("votedDirectoryId", q.VotedDirectoryID.String()))
	}
	return append(fields, number("data_version", q.DataVersion))
}
