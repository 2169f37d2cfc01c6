package cluster

import (
	"path/filepath"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/vfs"
)

// View is a data directory of any kind with what its metadata says, for reading. It
// takes no lock and holds no file open.
type View struct {
	*store.Dir
	// Meta is what cluster.json or MiniKafka's metadata.json says, nil in a bare log
	// directory, a partition directory or a file.
	Meta *Meta

	checkpoints map[string]map[store.TopicPartition]int64 // by file, once read
	leading     map[store.TopicPartition]store.PartitionRef
}

// OpenView looks at the data directory.
func OpenView(fsys vfs.ReadFS, path string) (*View, error) {
	d, err := store.Detect(fsys, path)
	if err != nil {
		return nil, err
	}
	v := &View{Dir: d, checkpoints: map[string]map[store.TopicPartition]int64{}}
	switch d.Kind {
	case store.KindCluster:
		v.Meta, err = ReadMeta(fsys, path)
	case store.KindMiniKafka:
		v.Meta, err = ReadMiniKafka(d)
	}
	return v, err
}

// Resolve turns TARGETs into replicas: the leaders' where all is false and metadata
// knows them, else all of them.
func (v *View) Resolve(targets []string, all bool) ([]store.PartitionRef, error) {
	return v.Dir.Resolve(targets, store.Scope{All: all, Leader: v.leader})
}

// Leading is the leader's replica of a partition. Who asks for many partitions has the
// folders listed once, at the first question.
func (v *View) Leading(tp store.TopicPartition) (store.PartitionRef, error) {
	if v.leading == nil {
		refs, err := v.Resolve(nil, false)
		if err != nil {
			return store.PartitionRef{}, err
		}
		v.leading = make(map[store.TopicPartition]store.PartitionRef, len(refs))
		for _, ref := range refs {
			v.leading[ref.TopicPartition] = ref
		}
	}
	if ref, ok := v.leading[tp]; ok {
		return ref, nil
	}
	refs, err := v.Resolve([]string{tp.String()}, false) // made just now, or it says why not
	if err != nil {
		return store.PartitionRef{}, err
	}
	return refs[0], nil
}

func (v *View) leader(tp store.TopicPartition) (broker int32, known bool) {
	if v.Meta == nil {
		return store.NoBroker, false
	}
	_, p, err := v.Meta.Partition(tp)
	if err != nil {
		return store.NoBroker, false
	}
	return p.LeaderID(), true
}

// checkpointed reads one line of a checkpoint file in a log directory. Each file is read
// once.
func (v *View) checkpointed(logDir, file string, tp store.TopicPartition) (offset int64, ok bool, err error) {
	name := filepath.Join(logDir, file)
	lines, read := v.checkpoints[name]
	if v.checkpoints == nil { // a View that was not opened, of files outside a data directory
		v.checkpoints = map[string]map[store.TopicPartition]int64{}
	}
	if !read {
		entries, err := checkpoint.ReadOffsets(v.FS, name)
		if err != nil {
			return 0, false, err
		}
		lines = make(map[store.TopicPartition]int64, len(entries))
		for _, e := range entries {
			lines[store.TopicPartition{Topic: e.Topic, Partition: e.Partition}] = e.Offset
		}
		v.checkpoints[name] = lines
	}
	offset, ok = lines[tp]
	return offset, ok, nil
}

// Reader opens a replica for reading, from the log start offset that its broker has
// checkpointed.
func (v *View) Reader(ref store.PartitionRef) (*store.LogReader, error) {
	logDir := filepath.Dir(ref.Dir)
	start, _, err := v.checkpointed(logDir, checkpoint.LogStartFile, ref.TopicPartition)
	if err != nil {
		return nil, err
	}
	return store.OpenReader(v.FS, ref.Dir, store.ReaderOptions{LogStart: start, Writing: v.writing(ref)})
}

// writing tells whether somebody appends to the partition just now: who holds its lock
// in a cluster (also when only a part of one was named), who holds the log directory
// elsewhere.
func (v *View) writing(ref store.PartitionRef) func() bool {
	logDir := filepath.Dir(ref.Dir)
	return func() bool {
		name := filepath.Join(logDir, store.BrokerLockFile)
		data := filepath.Dir(filepath.Clean(logDir))
		if ours, err := exists(v.FS, data); err == nil && ours {
			name = filepath.Join(data, LocksDir, store.PartitionLockName(ref.TopicPartition))
		}
		held, err := v.FS.Locked(name)
		return err == nil && held
	}
}

// TopicSummary is a topic as topic list shows it.
type TopicSummary struct {
	Name              string
	Partitions        int
	ReplicationFactor int // -1 where nothing tells
}

// Topics lists the topics by name: from the metadata, else by the folders.
func (v *View) Topics() ([]TopicSummary, error) {
	if v.Meta == nil {
		return v.topicsOfFolders()
	}
	out := make([]TopicSummary, 0, len(v.Meta.Topics))
	for _, t := range v.Meta.Topics {
		out = append(out, TopicSummary{t.Name, len(t.Partitions), t.ReplicationFactor()})
	}
	return out, nil
}

func (v *View) topicsOfFolders() ([]TopicSummary, error) {
	refs, err := v.AllPartitions()
	if err != nil {
		return nil, err
	}
	var out []TopicSummary
	for _, ref := range refs {
		if ref.PutAside() {
			continue
		}
		if n := len(out); n == 0 || out[n-1].Name != ref.Topic {
			out = append(out, TopicSummary{Name: ref.Topic, ReplicationFactor: -1})
		}
		out[len(out)-1].Partitions++
	}
	return out, nil
}
