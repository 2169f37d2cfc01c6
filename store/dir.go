package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"logdir/store/checkpoint"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// Kind is the sort of place that a path names, found by looking.
type Kind string

// The kinds, as info prints them.
const (
	KindCluster   Kind = "cluster"       // holds cluster.json
	KindLogDir    Kind = "log-dir"       // a broker's log.dirs folder
	KindMiniKafka Kind = "minikafka"     // holds MiniKafka's metadata.json and broker-N
	KindPartition Kind = "partition-dir" // holds the segments of one partition
	KindFile      Kind = "file"          // one file of a log
)

// Dir is a data directory, open for looking around. It holds no file open and takes no
// lock, and it sees the names that stood there when it was opened.
type Dir struct {
	FS   vfs.ReadFS
	Path string
	Kind Kind

	names []fs.DirEntry // of Path, where it is a directory
}

// LogDir is one broker's folder of partition directories.
type LogDir struct {
	Broker int32
	Path   string
}

// PartitionRef is one replica of a partition on disk.
type PartitionRef struct {
	TopicPartition
	Broker int32
	// Dir is the partition directory to open, Rel the same as it is shown: relative to
	// the data directory, or as it was typed.
	Dir, Rel string
	// State is normal but for the folders that a broker has put aside.
	State segment.State
	// File is the name of one file in Dir, if that was named and not the whole.
	File string
}

// Detect looks at path and says what it is. It reads one directory, and a second one
// only where nothing but a partition directory inside could tell.
func Detect(fsys vfs.ReadFS, path string) (*Dir, error) {
	d := &Dir{FS: fsys, Path: filepath.Clean(path)}
	info, err := fsys.Stat(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notDataDir(path, "there is nothing there").WithHint("logdir init -d %s", path)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return d, d.detectFile()
	}
	if d.names, err = fsys.ReadDir(d.Path); err != nil {
		return nil, err
	}
	if d.Kind, err = d.detectDir(); err == nil && d.Kind == "" {
		err = d.noKind(path)
	}
	return d, err
}

// noKind says that path is a directory of no kind. Only in an empty one init makes a cluster.
func (d *Dir) noKind(path string) *Error {
	e := notDataDir(path, "it holds neither cluster.json nor meta.properties nor partitions")
	if len(d.names) == 0 {
		return e.WithHint("logdir init -d %s", path)
	}
	return e
}

func notDataDir(path, why string) *Error {
	return Errorf(NotFound, "", "%s: not a data directory: %s", path, why).
		WithHint("name one with -d DIR; logdir init -d DIR makes a new one")
}

func (d *Dir) detectFile() error {
	d.Kind = KindFile
	if _, _, ok := segment.ParseName(filepath.Base(d.Path)); ok || LooksLikePath(filepath.Base(d.Path)) {
		return nil
	}
	return notDataDir(d.Path, "a file that is no part of a log")
}

func (d *Dir) detectDir() (Kind, error) {
	switch {
	case d.has(ClusterFile):
		return KindCluster, nil
	case d.has(MiniKafkaFile) && d.isMiniKafka():
		return KindMiniKafka, nil
	case d.has(checkpoint.MetaPropertiesFile):
		return KindLogDir, nil
	case holdsLog(d.names):
		return KindPartition, nil
	}
	found, err := d.holdsPartition()
	if found {
		return KindLogDir, err
	}
	return "", err
}

func (d *Dir) has(name string) bool {
	_, found := slices.BinarySearchFunc(d.names, name, func(e fs.DirEntry, n string) int { return cmp.Compare(e.Name(), n) })
	return found
}

// isMiniKafka asks for a broker folder beside metadata.json, and for MiniKafka's own
// version in it.
func (d *Dir) isMiniKafka() bool {
	if !slices.ContainsFunc(d.names, func(e fs.DirEntry) bool { _, ok := brokerID(e); return ok }) {
		return false
	}
	data, err := vfs.ReadAll(d.FS, filepath.Join(d.Path, MiniKafkaFile), maxMetadata)
	if err != nil {
		return false
	}
	var meta struct {
		Version int             `json:"version"`
		Topics  json.RawMessage `json:"topics"`
	}
	return json.Unmarshal(data, &meta) == nil && meta.Version == 1 && meta.Topics != nil
}

// maxMetadata bounds what is read of a metadata file.
const maxMetadata = 256 << 20

func holdsLog(names []fs.DirEntry) bool {
	return slices.ContainsFunc(names, func(e fs.DirEntry) bool {
		_, suffix, ok := segment.ParseName(e.Name())
		return ok && suffix == segment.LogSuffix && !e.IsDir()
	})
}

// holdsPartition looks into partition directories until one has a segment.
func (d *Dir) holdsPartition() (bool, error) {
	for _, e := range d.names {
		if _, ok := d.partitionRef(LogDir{Path: d.Path}, e); !ok {
			continue
		}
		names, err := d.FS.ReadDir(filepath.Join(d.Path, e.Name()))
		if err != nil {
			return false, err
		}
		if holdsLog(names) {
			return true, nil
		}
	}
	return false, nil
}

// brokerID reads the number of a broker-N folder.
func brokerID(e fs.DirEntry) (int32, bool) {
	digits, ok := strings.CutPrefix(e.Name(), brokerPrefix)
	if !ok || !e.IsDir() {
		return 0, false
	}
	id, err := strconv.ParseInt(digits, 10, 32)
	return int32(id), err == nil && id >= 0
}

// Clustered tells whether the directory holds broker folders.
func (d *Dir) Clustered() bool { return d.Kind == KindCluster || d.Kind == KindMiniKafka }

// LogDirs lists the brokers' folders by number. A bare log directory is one of them; a
// partition directory or a file has none.
func (d *Dir) LogDirs() ([]LogDir, error) {
	switch d.Kind {
	case KindLogDir:
		id, err := BareBrokerID(d.FS, d.Path)
		return []LogDir{{Broker: id, Path: d.Path}}, err
	case KindCluster, KindMiniKafka:
	default:
		return nil, nil
	}
	var out []LogDir
	for _, e := range d.names {
		if id, ok := brokerID(e); ok {
			out = append(out, LogDir{Broker: id, Path: filepath.Join(d.Path, e.Name())})
		}
	}
	slices.SortFunc(out, func(a, b LogDir) int { return cmp.Compare(a.Broker, b.Broker) })
	return out, nil
}

// BareBrokerID is the id that meta.properties gives a log directory, or 0 where there
// is no such file or it names none.
func BareBrokerID(fsys vfs.ReadFS, logDir string) (int32, error) {
	props, err := checkpoint.ReadMetaProperties(fsys, filepath.Join(logDir, checkpoint.MetaPropertiesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return max(props.NodeID, 0), nil
}

// Partitions lists the partition directories of one broker, sorted by topic and number,
// the ones put aside (-delete, -future, -stray) included. It reads one directory.
func (d *Dir) Partitions(l LogDir) ([]PartitionRef, error) {
	names := d.names
	if l.Path != d.Path {
		var err error
		if names, err = d.FS.ReadDir(l.Path); err != nil {
			return nil, err
		}
	}
	out := make([]PartitionRef, 0, len(names))
	for _, e := range names {
		if ref, ok := d.partitionRef(l, e); ok {
			out = append(out, ref)
		}
	}
	slices.SortFunc(out, PartitionRef.compare)
	return out, nil
}

// compare orders by topic, partition, broker, and the ones put aside behind the normal.
func (r PartitionRef) compare(s PartitionRef) int {
	return cmp.Or(r.TopicPartition.Compare(s.TopicPartition), cmp.Compare(r.Broker, s.Broker),
		cmp.Compare(r.State, s.State), cmp.Compare(r.Dir, s.Dir))
}

func (d *Dir) partitionRef(l LogDir, e fs.DirEntry) (PartitionRef, bool) {
	if !e.IsDir() {
		return PartitionRef{}, false
	}
	p, ok := segment.ParsePartitionDir(e.Name())
	if !ok {
		return PartitionRef{}, false
	}
	path := filepath.Join(l.Path, e.Name())
	return PartitionRef{
		TopicPartition: TopicPartition{p.Topic, p.Partition},
		Broker:         l.Broker, Dir: path, Rel: d.Rel(path), State: p.State,
	}, true
}

// AllPartitions is Partitions over all brokers, sorted by topic, partition and broker.
func (d *Dir) AllPartitions() ([]PartitionRef, error) {
	if d.Kind == KindPartition || d.Kind == KindFile {
		return []PartitionRef{d.self()}, nil
	}
	dirs, err := d.LogDirs()
	if err != nil {
		return nil, err
	}
	var out []PartitionRef
	for _, l := range dirs {
		refs, err := d.Partitions(l)
		if err != nil {
			return nil, err
		}
		out = append(out, refs...)
	}
	slices.SortFunc(out, PartitionRef.compare)
	return out, nil
}

// self is the partition that the data directory itself is, or the file in it.
func (d *Dir) self() PartitionRef {
	if d.Kind == KindFile {
		return PathRef(filepath.Dir(d.Path), filepath.Dir(d.Path), filepath.Base(d.Path))
	}
	return PathRef(d.Path, ".", "")
}

// PathRef is the partition directory dir, shown as rel, or one file in it. Topic and
// partition come from the folder's name; a folder named otherwise is partition -1 of a
// topic of that name.
func PathRef(dir, rel, file string) PartitionRef {
	ref := PartitionRef{Broker: NoBroker, Dir: dir, Rel: rel, File: file}
	name := folderName(dir)
	if p, ok := segment.ParsePartitionDir(name); ok {
		ref.TopicPartition, ref.State = TopicPartition{p.Topic, p.Partition}, p.State
	} else {
		ref.TopicPartition = TopicPartition{name, -1}
	}
	return ref
}

// folderName is the last element of a path, also of ".".
func folderName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return filepath.Base(abs)
	}
	return filepath.Base(dir)
}

// Rel is path as it is shown: relative to the data directory, with forward slashes.
func (d *Dir) Rel(path string) string {
	rel, err := filepath.Rel(d.Path, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return path
	}
	return filepath.ToSlash(rel)
}

// Show is the name of one of the replica's files as it is shown.
func (r PartitionRef) Show(file string) string {
	if r.Rel == "." {
		return file
	}
	return filepath.ToSlash(filepath.Join(r.Rel, file))
}
