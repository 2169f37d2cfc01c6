package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/vfs"
)

// SalvageReport is the name of the file, beside the new log directory, that lists every
// range which was left out.
const SalvageReport = "salvage-report.jsonl"

// partialSuffix is of the folder that a salvage works in until it is done. One that a crash
// left is begun anew.
const partialSuffix = ".partial"

// Salvage copies everything readable of some partitions into a new Kafka log directory, with
// the same offsets. The source is only read, past damage and past read errors.
type Salvage struct {
	Source vfs.ReadFS
	Target vfs.FS
	// To is the new log directory. It must not be there, or be empty.
	To string
	// Report is where the report is written: see ReportPath.
	Report string
	// IndexInterval is index.interval.bytes of the new indexes.
	IndexInterval int
}

// Salvaged is what became of one partition.
type Salvaged struct {
	store.TopicPartition
	LogStart, LogEnd  int64
	Records           int64
	Left              []LeftOut
	LostBytes         int64
	highWatermark     int64
	firstBase         int64
	checkpointedStart int64
}

// LostRanges counts the ranges that were left out: some lines of the report only say what
// was written otherwise.
func (s *Salvaged) LostRanges() int {
	n := 0
	for _, l := range s.Left {
		if l.Bytes != 0 && l.Kind != Unreadable {
			n++
		}
	}
	return n
}

// LeftOut is one range that was left out, and why: a line of the report.
type LeftOut struct {
	Topic      string       `json:"topic"`
	Partition  int32        `json:"partition"`
	File       string       `json:"file"`
	Position   int64        `json:"position"`
	Bytes      int64        `json:"bytes"`
	Kind       corrupt.Kind `json:"kind"`
	Detail     string       `json:"detail,omitempty"`
	BaseOffset *int64       `json:"base_offset"`
	LastOffset *int64       `json:"last_offset"`
	Records    *int64       `json:"records"`
}

// Unreadable is the kind of a range that the disk did not give, which is no corruption.
const Unreadable corrupt.Kind = "unreadable"

// Run salvages the partitions, in order. The new directory appears in one step, when all of
// it is on disk.
func (s Salvage) Run(ctx context.Context, partitions []Partition, done func(Salvaged) error) error {
	if err := s.checkTarget(); err != nil {
		return err
	}
	work := s.To + partialSuffix
	if err := vfs.RemoveAll(s.Target, work); err != nil {
		return err
	}
	if err := s.Target.MkdirAll(work); err != nil {
		return err
	}
	var all []Salvaged
	for _, p := range partitions {
		one, err := s.partition(ctx, p, filepath.Join(work, p.TopicPartition.Dir()))
		if err != nil {
			return fmt.Errorf("%s: %w", p.TopicPartition, err)
		}
		all = append(all, one)
		if err := done(one); err != nil {
			return err
		}
	}
	if err := s.writeLogDir(work, partitions, all); err != nil {
		return err
	}
	return s.publish(work, all)
}

// checkTarget refuses a target that holds anything.
func (s Salvage) checkTarget() error {
	entries, err := s.Target.ReadDir(s.To)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return store.Errorf(store.Refused, "", "%s is not empty", s.To).WithHint("name a directory that is not there")
	}
	return nil
}

// writeLogDir writes what stands beside the partitions: whose directory it is, and the
// checkpoints. There is no clean-shutdown marker: the broker may look for itself.
func (s Salvage) writeLogDir(work string, partitions []Partition, all []Salvaged) error {
	var points, marks, starts checkpoint.Offsets
	for _, one := range all {
		points.Set(one.Topic, one.Partition, one.LogEnd)
		marks.Set(one.Topic, one.Partition, one.highWatermark)
		if one.checkpointedStart > one.firstBase {
			starts.Set(one.Topic, one.Partition, one.checkpointedStart)
		}
	}
	for name, lines := range map[string]checkpoint.Offsets{
		checkpoint.RecoveryPointFile: points, checkpoint.HighWatermarkFile: marks, checkpoint.LogStartFile: starts,
	} {
		if err := checkpoint.WriteOffsets(s.Target, filepath.Join(work, name), lines); err != nil {
			return err
		}
	}
	if len(partitions) == 0 || partitions[0].LogDir.Path == "" {
		return nil
	}
	return s.copyState(filepath.Join(partitions[0].LogDir.Path, checkpoint.MetaPropertiesFile), filepath.Join(work, checkpoint.MetaPropertiesFile),
		func(data []byte) error { _, err := checkpoint.ParseMetaProperties(data); return err })
}

// copyState copies a small state file, if it is there, can be read and is sound.
func (s Salvage) copyState(from, to string, check func([]byte) error) error {
	data, err := vfs.ReadAll(s.Source, from, 1<<20)
	if err != nil || check(data) != nil {
		return nil // a loss that a broker makes good, or that check names
	}
	return vfs.WriteAtomic(s.Target, to, data)
}

// ReportPath is where the report goes: SalvageReport beside the new directory, with that one's
// name in front if the report of another salvage stands there.
func (s Salvage) ReportPath() (string, error) {
	path := filepath.Join(filepath.Dir(s.To), SalvageReport)
	taken, err := vfs.Exists(s.Target, path)
	if taken {
		path = s.To + "." + SalvageReport
	}
	return path, err
}

// publish writes the report and gives the new directory its name.
func (s Salvage) publish(work string, all []Salvaged) error {
	var report []byte
	for _, one := range all {
		for _, l := range one.Left {
			line, err := json.Marshal(l)
			if err != nil {
				return err
			}
			report = append(append(report, line...), '\n')
		}
	}
	if err := vfs.WriteAtomic(s.Target, s.Report, report); err != nil {
		return err
	}
	if err := s.Target.SyncDir(work); err != nil {
		return err
	}
	if there, err := vfs.Exists(s.Target, s.To); err != nil {
		return err
	} else if there { // empty: checkTarget saw to that
		if err := s.Target.Remove(s.To); err != nil {
			return err
		}
	}
	if err := s.Target.Rename(work, s.To); err != nil {
		return err
	}
	return s.Target.SyncDir(filepath.Dir(s.To))
}
