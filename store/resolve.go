package store

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Scope says how TARGETs become replicas.
type Scope struct {
	// All takes all replicas of a partition where no @BROKER is given; otherwise it is
	// the leader's.
	All bool
	// Leader names the broker that leads a partition, NoBroker if there is none; ok is
	// false where nothing knows. A nil Leader knows nothing: every replica counts.
	Leader func(TopicPartition) (broker int32, ok bool)
	// PutAside also takes -delete, -future and -stray folders where no TARGET is given.
	PutAside bool
}

// Resolve turns TARGETs into replicas: in the order of the TARGETs, within each by
// topic, partition and broker. No TARGET means everything. With the error that partitions
// have no leader come the replicas of the others; with any other error come none.
func (d *Dir) Resolve(targets []string, s Scope) ([]PartitionRef, error) {
	r := resolver{dir: d, scope: s}
	if len(targets) == 0 {
		return r.everything()
	}
	var out []PartitionRef
	for _, text := range targets {
		refs, err := r.resolve(text)
		if err != nil {
			return nil, err
		}
		out = append(out, refs...)
	}
	return out, noLeaders(r.leaderless)
}

type resolver struct {
	dir   *Dir
	scope Scope
	refs  []PartitionRef // all of the directory, once read
	read  bool
	// leaderless are the replicas of partitions that are meant and have no leader.
	leaderless []PartitionRef
}

func (r *resolver) all() ([]PartitionRef, error) {
	if r.read {
		return r.refs, nil
	}
	refs, err := r.dir.AllPartitions()
	r.refs, r.read = refs, err == nil
	return refs, err
}

func (r *resolver) everything() ([]PartitionRef, error) {
	refs, err := r.all()
	if err != nil {
		return nil, err
	}
	if r.dir.Kind == KindPartition || r.dir.Kind == KindFile {
		return refs, nil
	}
	out := make([]PartitionRef, 0, len(refs))
	for _, ref := range refs {
		if ref.PutAside() && !r.scope.PutAside {
			continue
		}
		if ok, _ := r.meant(ref, NoBroker); ok {
			out = append(out, ref)
		}
	}
	return out, nil
}

// PutAside tells whether a broker has taken the folder out of service.
func (r PartitionRef) PutAside() bool { return r.State != 0 }

// meant tells whether the replica is one that a target without (or with) a broker
// names; known is false for a partition that has no leader just now.
func (r *resolver) meant(ref PartitionRef, broker int32) (ok, known bool) {
	if broker != NoBroker {
		return ref.Broker == broker, true
	}
	if r.scope.All || r.scope.Leader == nil {
		return true, true
	}
	leader, has := r.scope.Leader(ref.TopicPartition)
	if !has {
		return true, true
	}
	return ref.Broker == leader, leader != NoBroker
}

// resolve reads one TARGET. A name that could be both a topic and a file is the topic.
func (r *resolver) resolve(text string) ([]PartitionRef, error) {
	if LooksLikePath(text) {
		return r.path(text)
	}
	t, syntax := ParseTarget(text)
	if syntax == nil {
		refs, err := r.topic(t)
		if refs != nil || err != nil {
			return refs, err
		}
	}
	refs, err := r.path(text)
	if !errors.Is(err, fs.ErrNotExist) {
		return refs, err
	}
	if syntax != nil {
		return nil, syntax
	}
	return nil, r.unknownTopic(t)
}

// topic collects the replicas of a TOPIC target; nil if no folder has that name.
func (r *resolver) topic(t Target) ([]PartitionRef, error) {
	refs, err := r.all()
	if err != nil {
		return nil, err
	}
	from, _ := slices.BinarySearchFunc(refs, t.Topic, func(ref PartitionRef, topic string) int { return strings.Compare(ref.Topic, topic) })
	refs = refs[from:]
	to := slices.IndexFunc(refs, func(ref PartitionRef) bool { return ref.Topic != t.Topic })
	if to >= 0 {
		refs = refs[:to]
	}
	if len(refs) == 0 {
		return nil, nil
	}
	return r.choose(t, refs)
}

// choose takes from all replicas of a topic those that the target means. They may be none
// for want of a leader.
func (r *resolver) choose(t Target, refs []PartitionRef) ([]PartitionRef, error) {
	out := []PartitionRef{}
	known := len(r.leaderless)
	for _, ref := range refs {
		if !t.Has(ref.Partition) || ref.PutAside() {
			continue
		}
		ok, led := r.meant(ref, t.Broker)
		if ok {
			out = append(out, ref)
		} else if !led {
			r.leaderless = append(r.leaderless, ref)
		}
	}
	if len(out) == 0 && len(r.leaderless) == known {
		return nil, noReplica(t, refs)
	}
	return out, nil
}

// noLeaders says of each partition once that it has no leader. Its replicas stand together.
func noLeaders(refs []PartitionRef) error {
	var errs []error
	for i, ref := range refs {
		if i == 0 || refs[i-1].TopicPartition != ref.TopicPartition {
			errs = append(errs, Errorf(Refused, "LEADER_NOT_AVAILABLE", "%s has no leader", ref.TopicPartition).
				WithHint("name a replica: %s@%d", ref.TopicPartition, ref.Broker))
		}
	}
	return errors.Join(errs...)
}

func noReplica(t Target, refs []PartitionRef) error {
	if t.Broker != NoBroker {
		return Errorf(NotFound, "REPLICA_NOT_AVAILABLE", "%s: broker %d has no such replica", t.Text, t.Broker)
	}
	return Errorf(NotFound, "UNKNOWN_TOPIC_OR_PARTITION", "%s: topic %s has no such partition, the last is %d",
		t.Text, t.Topic, refs[len(refs)-1].Partition)
}

func (r *resolver) unknownTopic(t Target) error {
	var names []string
	for _, ref := range r.refs {
		names = append(names, ref.Topic)
	}
	return UnknownTopic(t.Topic, slices.Compact(names))
}

// path looks a PATH up from the working directory, then from the data directory.
func (r *resolver) path(text string) ([]PartitionRef, error) {
	first, err := r.pathAt(text, text)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || filepath.IsAbs(text) {
		return first, err
	}
	second, err := r.pathAt(filepath.Join(r.dir.Path, text), text)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Errorf(NotFound, "", "%s: %w", text, fs.ErrNotExist)
	}
	return second, err
}

// pathAt is the replica, or the replicas, that stand at path.
func (r *resolver) pathAt(path, shown string) ([]PartitionRef, error) {
	info, err := r.dir.FS.Stat(path)
	if err != nil {
		return nil, err
	}
	shown = filepath.ToSlash(filepath.Clean(shown))
	if !info.IsDir() {
		return []PartitionRef{PathRef(filepath.Dir(path), filepath.ToSlash(filepath.Dir(shown)), filepath.Base(path))}, nil
	}
	// A broker-1 has the name of a partition too: only what is in it tells.
	d, err := Detect(r.dir.FS, path)
	if ref := PathRef(path, shown, ""); ref.Partition >= 0 && (err != nil || d.Kind == KindPartition) {
		return []PartitionRef{ref}, nil
	}
	if err != nil {
		return nil, err
	}
	return pathRefs(d, shown)
}

// pathRefs are the replicas below a directory that was named by path.
func pathRefs(d *Dir, shown string) ([]PartitionRef, error) {
	refs, err := d.AllPartitions()
	if err != nil {
		return nil, err
	}
	for i := range refs {
		refs[i].Rel = filepath.ToSlash(filepath.Join(shown, refs[i].Rel))
	}
	return refs, nil
}
