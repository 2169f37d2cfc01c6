package recovery

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/vfs"
)

// LogDir is what the files of a log directory say about its partitions.
type LogDir struct {
	Path string
	// Clean says that the clean-shutdown marker stands.
	Clean bool
	// Bad are the checkpoint files that do not parse, by name. A broker takes them for empty.
	Bad map[string]*corrupt.Error

	lines map[string]map[store.TopicPartition]int64
}

// pointFiles are the checkpoints that repair looks at.
var pointFiles = []string{checkpoint.RecoveryPointFile, checkpoint.HighWatermarkFile, checkpoint.LogStartFile, checkpoint.CleanerFile}

// ReadLogDir reads marker and checkpoints. With an empty path nothing is known.
func ReadLogDir(fsys vfs.ReadFS, path string) (*LogDir, error) {
	d := &LogDir{Path: path, Bad: map[string]*corrupt.Error{}, lines: map[string]map[store.TopicPartition]int64{}}
	if path == "" {
		return d, nil
	}
	var err error
	if d.Clean, err = vfs.Exists(fsys, filepath.Join(path, checkpoint.CleanShutdownFile)); err != nil {
		return nil, err
	}
	for _, name := range pointFiles {
		if err := d.read(fsys, name); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *LogDir) read(fsys vfs.ReadFS, name string) error {
	lines, err := checkpoint.ReadOffsets(fsys, filepath.Join(d.Path, name))
	if damage, ok := errors.AsType[*corrupt.Error](err); ok {
		d.Bad[name] = damage
		return nil
	}
	if err != nil {
		return err
	}
	m := make(map[store.TopicPartition]int64, len(lines))
	for _, l := range lines {
		m[store.TopicPartition{Topic: l.Topic, Partition: l.Partition}] = l.Offset
	}
	d.lines[name] = m
	return nil
}

// point is a partition's line in a checkpoint, or corrupt.Unknown.
func (d *LogDir) point(name string, tp store.TopicPartition) int64 {
	if n, ok := d.lines[name][tp]; ok {
		return n
	}
	return corrupt.Unknown
}

// Partition is one replica to look after, with what its log directory says about it.
type Partition struct {
	store.PartitionRef
	LogDir *LogDir
	// RecoveryPoint, HighWatermark, LogStart and Cleaned are its lines in the checkpoints, or
	// corrupt.Unknown.
	RecoveryPoint, HighWatermark, LogStart, Cleaned int64
	// DataDir is the flag that names the data directory in commands to type next, as
	// "-d data "; or "".
	DataDir string
}

// Partition joins a replica with its lines.
func (d *LogDir) Partition(ref store.PartitionRef) Partition {
	return Partition{
		PartitionRef: ref, LogDir: d,
		RecoveryPoint: d.point(checkpoint.RecoveryPointFile, ref.TopicPartition),
		HighWatermark: d.point(checkpoint.HighWatermarkFile, ref.TopicPartition),
		LogStart:      d.point(checkpoint.LogStartFile, ref.TopicPartition),
		Cleaned:       d.point(checkpoint.CleanerFile, ref.TopicPartition),
	}
}

// target is how a command line names the partition, with the data directory in front.
func (p *Partition) target() string {
	if p.Broker == store.NoBroker || p.Partition < 0 {
		return store.ShellWord(p.Dir)
	}
	return fmt.Sprintf("%s%s@%d", p.DataDir, p.TopicPartition, p.Broker)
}

// LowerPoints is the change of the checkpoints that brings every line of the partitions
// down to their new log ends. Partitions whose log end is not in ends stay as they are. A
// checkpoint that does not parse is made anew from the lines that do. Of recovery points
// only those in ends: the others would say of damage that is left that nobody was promised
// what stood there.
func (d *LogDir) LowerPoints(fsys vfs.ReadFS, ends map[store.TopicPartition]int64) ([]Change, error) {
	var changes []Change
	for _, name := range pointFiles {
		if d.Bad[name] == nil && !d.above(name, ends) {
			continue
		}
		path := filepath.Join(d.Path, name)
		lines, err := d.legible(fsys, path)
		if err != nil {
			return nil, err
		}
		if d.Bad[name] != nil && name == checkpoint.RecoveryPointFile {
			lines = slices.DeleteFunc(lines, func(l checkpoint.OffsetEntry) bool {
				_, whole := ends[store.TopicPartition{Topic: l.Topic, Partition: l.Partition}]
				return !whole
			})
		}
		for i, l := range lines {
			if end, ok := ends[store.TopicPartition{Topic: l.Topic, Partition: l.Partition}]; ok {
				lines[i].Offset = min(l.Offset, end)
			}
		}
		c, err := Replace(fsys, path, checkpoint.AppendOffsets(nil, lines), "beyond the log end")
		if err != nil {
			return nil, err
		}
		c.Action = "lowered to the log end"
		if d.Bad[name] != nil {
			c.Action = fmt.Sprintf("rebuilt %s from %d legible lines", name, len(lines))
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// legible reads the lines of a checkpoint that can be read, of topics that can be.
func (d *LogDir) legible(fsys vfs.ReadFS, path string) (checkpoint.Offsets, error) {
	data, err := vfs.ReadAll(fsys, path, maxEpochFile)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(checkpoint.LegibleOffsets(data), func(l checkpoint.OffsetEntry) bool {
		return store.ValidateTopic(l.Topic) != nil
	}), nil
}

func (d *LogDir) above(name string, ends map[store.TopicPartition]int64) bool {
	for tp, end := range ends {
		if d.point(name, tp) > end {
			return true
		}
	}
	return false
}
