package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"logdir/cmd/internal/flagval"
	"logdir/recovery"
	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/vfs"
)

// identityFlags rewrite whose data a restored volume is. The zero value changes nothing.
type identityFlags struct {
	topicIDs  flagval.KeyValues
	clusterID string
	brokerID  flagval.IDs
}

func (f *identityFlags) addTo(flags *pflag.FlagSet) {
	flags.Var(&f.topicIDs, "set-topic-id", "`topic=id`: write partition.metadata of a topic's partitions, so that a broker does not call them stray; repeatable")
	flags.StringVar(&f.clusterID, "set-cluster-id", "", "write cluster.id of meta.properties: an `id`")
	flags.Var(&f.brokerID, "set-broker-id", "write node.id (or broker.id) of meta.properties: a `number`")
}

// any says whether an identity is to be changed, which is asked for in a cluster too.
func (f *identityFlags) any() bool {
	return f.clusterID != "" || len(f.brokerID) > 0 || len(f.topicIDs.Map()) > 0
}

// planLogDirs plans what belongs to the log directories: checkpoints that lie beyond a log
// end, identities, the marker of a clean stop.
func (s *recoverRun) planLogDirs() error {
	if err := s.illegible(); err != nil {
		return err
	}
	for path, d := range s.sortedLogDirs() {
		if err := s.lowerPoints(path, d); err != nil {
			return err
		}
		if err := s.setIdentity(path); err != nil {
			return err
		}
		if err := s.markClean(path, d); err != nil {
			return err
		}
	}
	return s.setTopicIDs()
}

// sortedLogDirs walks the log directories by path.
func (s *recoverRun) sortedLogDirs() func(func(string, *recovery.LogDir) bool) {
	return func(yield func(string, *recovery.LogDir) bool) {
		paths := make([]string, 0, len(s.logDirs))
		for path := range s.logDirs {
			if path != "" {
				paths = append(paths, path)
			}
		}
		slices.Sort(paths)
		for _, path := range paths {
			if !yield(path, s.logDirs[path]) {
				return
			}
		}
	}
}

// plansIn are the plans of the replicas in one log directory that leave no damage behind.
func (s *recoverRun) plansIn(path string) []*recovery.Plan {
	var out []*recovery.Plan
	for _, p := range s.plans {
		if p.Partition.LogDir.Path == path {
			out = append(out, p)
		}
	}
	return out
}

func (s *recoverRun) lowerPoints(path string, d *recovery.LogDir) error {
	ends := map[store.TopicPartition]int64{}
	for _, p := range s.plansIn(path) {
		if len(p.Left) > 0 || p.Partition.PutAside() || !p.HasLog {
			continue
		}
		ends[p.Partition.TopicPartition] = p.LogEnd
		if !p.ChangesLog() { // behind a cut it goes without saying
			s.pointRows(p)
		}
	}
	changes, err := d.LowerPoints(s.env.FS, ends)
	for _, c := range changes {
		if d.Bad[filepath.Base(c.Path)] != nil {
			s.rows = append(s.rows, s.dirRow(path, corrupt.BadCheckpoint, c.Action))
		}
	}
	s.extra = add(s.extra, s.place(path), changes)
	return err
}

// pointRows shows checkpoints beyond the end of a log that is not changed itself.
func (s *recoverRun) pointRows(p *recovery.Plan) {
	for _, point := range []struct {
		name string
		at   int64
	}{
		{"high watermark", p.Partition.HighWatermark},
		{"recovery point", p.Partition.RecoveryPoint},
		{"log start offset", p.Partition.LogStart},
		{"cleaner offset", p.Partition.Cleaned},
	} {
		if point.at > p.LogEnd {
			s.rows = append(s.rows, s.extraRow(p, corrupt.BadCheckpoint, fmt.Sprintf("lowered %s %d to %d", point.name, point.at, p.LogEnd)))
		}
	}
}

func (s *recoverRun) extraRow(p *recovery.Plan, kind corrupt.Kind, action string) recovery.Row {
	return recovery.Row{
		TopicPartition: p.Partition.TopicPartition, Broker: p.Partition.Broker,
		Segment: corrupt.Unknown, Damage: kind, LogEnd: p.LogEnd, Action: action,
	}
}

// dirRow is about a file of a log directory.
func (s *recoverRun) dirRow(path string, kind corrupt.Kind, action string) recovery.Row {
	row := recovery.Row{TopicPartition: store.TopicPartition{Partition: -1}, Broker: store.NoBroker, Segment: corrupt.Unknown, Damage: kind, LogEnd: corrupt.Unknown, Action: action}
	for _, ref := range s.refs {
		if s.placeOf(ref).logDir == path {
			row.Broker = ref.Broker
		}
	}
	return row
}

// illegible notes identities that nobody can read, and that this run is not told: what stood
// there follows from no log, so that damage is left.
func (s *recoverRun) illegible() error {
	for path := range s.sortedLogDirs() {
		if s.o.identity.clusterID != "" && len(s.o.identity.brokerID) > 0 {
			break
		}
		_, err := checkpoint.ReadMetaProperties(s.env.FS, filepath.Join(path, checkpoint.MetaPropertiesFile))
		if err := s.unread(err, "--set-cluster-id ID --set-broker-id N"); err != nil {
			return err
		}
	}
	for _, p := range s.plans {
		if p.Partition.PutAside() {
			continue
		}
		if err := s.illegibleIn(p.Partition); err != nil {
			return err
		}
	}
	return nil
}

func (s *recoverRun) illegibleIn(p recovery.Partition) error {
	if _, told := s.o.identity.topicIDs.Map()[p.Topic]; !told {
		_, err := checkpoint.ReadPartitionMetadata(s.env.FS, filepath.Join(p.Dir, checkpoint.PartitionMetadataFile))
		if err := s.unread(err, "--set-topic-id "+p.Topic+"=ID"); err != nil {
			return err
		}
	}
	_, err := checkpoint.ReadQuorumState(s.env.FS, filepath.Join(p.Dir, checkpoint.QuorumStateFile))
	return s.unread(err, "")
}

// unread takes what is wrong with an identity as damage that is left, with the flags that
// would mend it, if any. A file that is missing or, as Kafka 2.8 left it, empty is none.
func (s *recoverRun) unread(err error, flags string) error {
	d, damaged := errors.AsType[*corrupt.Error](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case !damaged:
		return err
	}
	if size, err := vfs.Size(s.env.FS, d.Path); err != nil || size == 0 {
		return err
	}
	left := store.Errorf(store.Damage, d.Kind.KafkaName(), "it cannot be derived, so it stays: %w", d)
	if flags != "" {
		left = left.WithHint("logdir recover %s%s", s.dataDirFlag(), flags)
	}
	s.errs = append(s.errs, left)
	return nil
}

// setIdentity rewrites meta.properties of a restored volume.
func (s *recoverRun) setIdentity(path string) error {
	f := s.o.identity
	if f.clusterID == "" && len(f.brokerID) == 0 {
		return nil
	}
	name := filepath.Join(path, checkpoint.MetaPropertiesFile)
	meta, err := checkpoint.ReadMetaProperties(s.env.FS, name)
	if damage, ok := errors.AsType[*corrupt.Error](err); err != nil && !ok {
		return store.Errorf(store.NotFound, "", "%s: %w", name, err)
	} else if ok {
		s.env.Note("%s", damage)
	}
	if f.clusterID != "" {
		meta.ClusterID = f.clusterID
	}
	if len(f.brokerID) > 0 {
		meta.NodeID = f.brokerID[0]
	}
	c, err := recovery.Replace(s.env.FS, name, checkpoint.AppendMetaProperties(nil, meta, s.env.Now()), "identity")
	if err != nil {
		return err
	}
	c.Action = fmt.Sprintf("cluster.id %s, node %d", meta.ClusterID, meta.NodeID)
	s.extra = add(s.extra, s.place(path), []recovery.Change{c})
	if len(s.plansIn(path)) > 0 {
		s.rows = append(s.rows, s.dirRow(path, "", "set "+c.Action+" in "+checkpoint.MetaPropertiesFile))
	}
	return nil
}

func (s *recoverRun) setTopicIDs() error {
	ids := s.o.identity.topicIDs.Map()
	for _, topic := range slices.Sorted(maps.Keys(ids)) {
		id, err := checkpoint.ParseUUID(ids[topic])
		if err != nil {
			return usagef("--set-topic-id %s: %w", topic, err)
		}
		found := false
		for _, p := range s.plans {
			if p.Partition.Topic != topic {
				continue
			}
			found = true
			if err := s.setTopicID(p, id); err != nil {
				return err
			}
		}
		if !found {
			return store.Errorf(store.NotFound, "UNKNOWN_TOPIC_OR_PARTITION", "--set-topic-id %s: no such topic among the targets", topic)
		}
	}
	return nil
}

func (s *recoverRun) setTopicID(p *recovery.Plan, id checkpoint.UUID) error {
	name := filepath.Join(p.Partition.Dir, checkpoint.PartitionMetadataFile)
	data := checkpoint.AppendPartitionMetadata(nil, checkpoint.PartitionMetadata{TopicID: id})
	have, err := vfs.ReadAll(s.env.FS, name, 1<<16)
	if err == nil && string(have) == string(data) {
		return nil
	}
	c, err := recovery.Replace(s.env.FS, name, data, "identity")
	if err != nil {
		return err
	}
	c.Action = "topic id " + id.String()
	s.extra = add(s.extra, s.placeOf(p.Partition.PartitionRef), []recovery.Change{c})
	s.rows = append(s.rows, s.extraRow(p, "", "set "+c.Action))
	return nil
}

// markClean plans the marker, which promises that every partition of the directory is
// whole. So every one of them must have been looked at, and none may keep damage.
func (s *recoverRun) markClean(path string, d *recovery.LogDir) error {
	if !s.o.markClean || d.Clean {
		return nil
	}
	plans := s.plansIn(path)
	refs, err := s.view.Partitions(store.LogDir{Path: path})
	if err != nil {
		return err
	}
	normal := slices.DeleteFunc(refs, store.PartitionRef.PutAside)
	damaged := slices.ContainsFunc(plans, func(p *recovery.Plan) bool { return len(p.Left) > 0 })
	if len(plans) < len(normal) || damaged || len(s.errs) > 0 {
		return store.Errorf(store.Refused, "", "%s: --mark-clean promises that every partition is whole: %s", path, unclean(damaged)).
			WithHint("name no TARGET, and repair what is left first: logdir recover --dry-run")
	}
	c, err := recovery.Replace(s.env.FS, filepath.Join(path, checkpoint.CleanShutdownFile), checkpoint.AppendCleanShutdown(nil, -1), "mark-clean")
	if err != nil {
		return err
	}
	s.extra = add(s.extra, s.place(path), []recovery.Change{c})
	if len(plans) > 0 {
		s.rows = append(s.rows, s.dirRow(path, "", "marked clean"))
	}
	return nil
}

func unclean(damaged bool) string {
	if damaged {
		return "damage would be left"
	}
	return "not all of them were looked at"
}
