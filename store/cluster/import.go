package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/record"
	"logdir/store/vfs"
)

// Imported says what an import took over.
type Imported struct {
	Meta *Meta
	// Skipped are folders that were left where they are: put aside by their broker, or
	// the KRaft metadata log.
	Skipped []string
	// Added are partitions that the source does not hold although it holds higher ones of
	// the topic; they were made empty.
	Added []store.TopicPartition
}

// Import makes a one-broker cluster of a copy of a bare log directory. The source is only
// read. The broker is up and not marked clean, whatever the source was: the copy is
// ours to change from here on.
func Import(ctx context.Context, fsys vfs.FS, source, path string, n NewCluster) (Imported, error) {
	if len(n.BrokerIDs) != 1 {
		return Imported{}, store.Errorf(store.Usage, "INVALID_REQUEST", "an import makes one broker, not %d", len(n.BrokerIDs))
	}
	d, err := bareLogDir(fsys, source)
	if err != nil {
		return Imported{}, err
	}
	i := importer{fs: fsys, from: d, to: store.BrokerDir(path, n.BrokerIDs[0]), broker: n.BrokerIDs[0]}
	i.out.Meta, err = n.make(ctx, fsys, path, func(m *Meta) error { return i.run(m, n) })
	return i.out, err
}

func bareLogDir(fsys vfs.ReadFS, source string) (*store.Dir, error) {
	d, err := store.Detect(fsys, source)
	if err != nil {
		return nil, err
	}
	if d.Kind != store.KindLogDir {
		return nil, store.Errorf(store.Usage, "INVALID_REQUEST", "%s is no log directory of one broker, but a %s", source, d.Kind)
	}
	running, err := store.BrokerRuns(fsys, source)
	if err == nil && running {
		err = store.Errorf(store.Busy, "", "%s: a broker runs on it", source).WithHint("stop the broker first")
	}
	return d, err
}

type importer struct {
	fs     vfs.FS
	from   *store.Dir
	to     string
	broker int32
	out    Imported
}

func (i *importer) run(m *Meta, n NewCluster) error {
	if err := i.properties(m, n); err != nil {
		return err
	}
	for _, name := range checkpoint.OffsetFiles {
		if err := i.copyIfThere(filepath.Join(i.from.Path, name), filepath.Join(i.to, name)); err != nil {
			return err
		}
	}
	refs, err := i.from.AllPartitions()
	if err != nil {
		return err
	}
	for _, ref := range refs {
		if err := i.take(m, ref); err != nil {
			return fmt.Errorf("import %s: %w", ref.Rel, err)
		}
	}
	return errors.Join(i.fillGaps(m), i.fs.SyncDir(i.to))
}

// properties carries the cluster's and the directory's id over, where there are any.
func (i *importer) properties(m *Meta, n NewCluster) error {
	props, err := checkpoint.ReadMetaProperties(i.from.FS, filepath.Join(i.from.Path, checkpoint.MetaPropertiesFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if props.ClusterID != "" {
		m.ClusterID = props.ClusterID
	}
	id := checkpoint.RandomUUID()
	if props.DirectoryID != nil {
		id = *props.DirectoryID
	}
	return layDownBroker(i.fs, i.to, checkpoint.MetaProperties{
		Version: 1, NodeID: i.broker, ClusterID: m.ClusterID, DirectoryID: &id,
	}, n.Now)
}

// take copies one partition and enters it in the metadata.
func (i *importer) take(m *Meta, ref store.PartitionRef) error {
	if ref.PutAside() || ref.Topic == "__cluster_metadata" || store.ValidateTopic(ref.Topic) != nil || ref.Partition >= maxPartitions {
		i.out.Skipped = append(i.out.Skipped, ref.Rel)
		return nil
	}
	to := filepath.Join(i.to, ref.TopicPartition.Dir())
	if err := i.copyFiles(ref.Dir, to); err != nil {
		return err
	}
	return i.enter(m, ref.TopicPartition, to)
}

func (i *importer) copyFiles(from, to string) error {
	if err := i.fs.MkdirAll(to); err != nil {
		return err
	}
	names, err := i.from.FS.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range names {
		if e.IsDir() {
			continue
		}
		if err := vfs.CopyFile(i.from.FS, filepath.Join(from, e.Name()), i.fs, filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return i.fs.SyncDir(to)
}

func (i *importer) copyIfThere(from, to string) error {
	there, err := vfs.Exists(i.from.FS, from)
	if err != nil || !there {
		return err
	}
	return vfs.CopyFile(i.from.FS, from, i.fs, to)
}

// enter adds a copied partition to its topic, which it makes if it is the first.
func (i *importer) enter(m *Meta, tp store.TopicPartition, dir string) error {
	t, err := m.Topic(tp.Topic)
	if err != nil {
		if t, err = i.newTopic(tp.Topic, dir); err != nil {
			return err
		}
		m.put(t)
	}
	epochs, err := checkpoint.ReadEpochs(i.fs, filepath.Join(dir, checkpoint.EpochFile))
	if err != nil {
		return err
	}
	last, _ := epochs.Latest()
	for len(t.Partitions) <= int(tp.Partition) {
		t.Partitions = append(t.Partitions, nil)
	}
	t.Partitions[tp.Partition] = i.partition(max(last.Epoch, 0))
	return nil
}

func (i *importer) partition(epoch int32) *Partition {
	p := &Partition{Replicas: []int32{i.broker}, ISR: []int32{i.broker}, LeaderEpoch: epoch}
	p.Lead(i.broker)
	return p
}

// newTopic takes the topic's id from the partition's folder; one of before Kafka 2.8 has
// none and gets one.
func (i *importer) newTopic(name, dir string) (*Topic, error) {
	file := filepath.Join(dir, checkpoint.PartitionMetadataFile)
	meta, err := checkpoint.ReadPartitionMetadata(i.fs, file)
	if errors.Is(err, fs.ErrNotExist) {
		meta.TopicID = checkpoint.RandomUUID()
		err = checkpoint.WritePartitionMetadata(i.fs, file, meta)
	}
	return &Topic{Name: name, ID: meta.TopicID.String()}, err
}

// fillGaps makes the partitions that the source does not hold: a topic's partitions are
// numbered without gaps.
func (i *importer) fillGaps(m *Meta) error {
	for _, t := range m.Topics {
		id, err := checkpoint.ParseUUID(t.ID)
		if err != nil {
			return err
		}
		for _, n := range gaps(t) {
			tp := store.TopicPartition{Topic: t.Name, Partition: n}
			if err := store.CreatePartition(i.fs, filepath.Join(i.to, tp.Dir()), id, record.V2); err != nil {
				return err
			}
			t.Partitions[n] = i.partition(0)
			i.out.Added = append(i.out.Added, tp)
		}
	}
	return nil
}

func gaps(t *Topic) []int32 {
	var missing []int32
	for n, p := range t.Partitions {
		if p == nil {
			missing = append(missing, int32(n))
		}
	}
	return missing
}
