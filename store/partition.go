package store

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"logdir/store/checkpoint"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// CreatePartition makes the directory of an empty partition, as a broker that was
// stopped cleanly leaves it:
//
//	00000000000000000000.log        0 bytes
//	00000000000000000000.index      0 bytes
//	00000000000000000000.timeindex  0 bytes; none for MKB1
//	leader-epoch-checkpoint         0 bytes
//	partition.metadata              the topic's id
//
// The directory is synced, its entry in the log directory is not: one sync there does
// for many partitions. A directory that an interrupted creation left is taken over; one
// that holds records is refused.
func CreatePartition(fsys vfs.FS, dir string, topicID checkpoint.UUID, format record.Format) error {
	err := fsys.Mkdir(dir)
	if errors.Is(err, fs.ErrExist) {
		err = refuseRecords(fsys, dir)
	}
	if err != nil {
		return err
	}
	for _, name := range emptyFiles(format) {
		if err := touch(fsys, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if err := writePartitionMetadata(fsys, dir, topicID); err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

func emptyFiles(format record.Format) []string {
	names := []string{
		segment.FileName(0, segment.IndexSuffix),
		segment.FileName(0, segment.LogSuffix),
		checkpoint.EpochFile,
	}
	if format != record.MKB1 {
		names = append(names, segment.FileName(0, segment.TimeIndexSuffix))
	}
	return names
}

// refuseRecords makes sure that an existing directory is what an interrupted creation
// leaves: no segment but the first, and that one empty.
func refuseRecords(fsys vfs.ReadFS, dir string) error {
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range names {
		if !strings.HasSuffix(e.Name(), segment.LogSuffix) {
			continue
		}
		size, err := vfs.Size(fsys, filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		if size > 0 || e.Name() != segment.FileName(0, segment.LogSuffix) {
			return Errorf(Refused, "", "%s holds records that no topic owns", dir).
				WithHint("finish the deletion with logdir topic delete, or move it away")
		}
	}
	return nil
}

// touch makes an empty file, or finds one.
func touch(fsys vfs.FS, name string) error {
	f, err := fsys.OpenCreate(name)
	if err != nil {
		return err
	}
	return f.Close()
}

// writePartitionMetadata writes and syncs the file in place: nobody reads it before the
// directory is published.
func writePartitionMetadata(fsys vfs.FS, dir string, id checkpoint.UUID) error {
	f, err := fsys.OpenCreate(filepath.Join(dir, checkpoint.PartitionMetadataFile))
	if err != nil {
		return err
	}
	text := checkpoint.AppendPartitionMetadata(nil, checkpoint.PartitionMetadata{TopicID: id})
	return errors.Join(rewrite(f, text), f.Close())
}

func rewrite(f vfs.File, data []byte) error {
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	return f.Sync()
}
