package checkpoint

import (
	"strconv"
	"time"

	"logdir/store/corrupt"
	"logdir/store/vfs"
)

// The keys of meta.properties.
const (
	keyVersion     = "version"
	keyBrokerID    = "broker.id"
	keyNodeID      = "node.id"
	keyClusterID   = "cluster.id"
	keyDirectoryID = "directory.id"
)

// NoNodeID is the node id of a version 0 file without broker.id.
const NoNodeID int32 = -1

// MetaProperties says whose log directory it is (Kafka: MetaProperties).
type MetaProperties struct {
	// Version is 0 for a ZooKeeper broker, 1 for KRaft.
	Version int32
	// NodeID is node.id, or broker.id in version 0.
	NodeID int32
	// ClusterID is empty where there is none, as in version 0 before Kafka 2.4.
	ClusterID string
	// DirectoryID is nil where there is none, as before 3.7.
	DirectoryID *UUID
	// Properties is the whole file, unknown keys included.
	Properties Properties
}

// ParseMetaProperties reads a meta.properties file by Kafka's rules. The error is a
// *corrupt.Error of kind bad-metadata; what could be read is returned with it.
func ParseMetaProperties(data []byte) (MetaProperties, error) {
	m := MetaProperties{NodeID: NoNodeID}
	props, err := ParseProperties(data)
	m.Properties = props
	if err != nil {
		return m, err
	}
	if damage := m.fill(int64(len(data))); damage != nil {
		return m, damage
	}
	return m, nil
}

func (m *MetaProperties) fill(size int64) (err *corrupt.Error) {
	m.ClusterID, _ = m.Properties.Get(keyClusterID)
	if m.Version, err = m.int32(keyVersion, 0); err != nil {
		return err
	}
	if m.Version < 0 || m.Version > 1 {
		return m.bad(keyVersion, size, "version %d", m.Version)
	}
	if m.NodeID, err = m.int32(m.nodeKey(), NoNodeID); err != nil {
		return err
	}
	if err := m.fillDirectoryID(size); err != nil {
		return err
	}
	return m.checkRequired(size)
}

// nodeKey is the key of the node's id in this version.
func (m *MetaProperties) nodeKey() string {
	if m.Version == 0 {
		return keyBrokerID
	}
	return keyNodeID
}

func (m *MetaProperties) fillDirectoryID(size int64) *corrupt.Error {
	text, ok := m.Properties.Get(keyDirectoryID)
	if !ok {
		return nil
	}
	id, err := ParseUUID(text)
	switch {
	case err != nil:
		return m.bad(keyDirectoryID, size, "%v", err)
	case id.IsReserved():
		return m.bad(keyDirectoryID, size, "directory id %s is reserved", id)
	}
	m.DirectoryID = &id
	return nil
}

// checkRequired looks for what version 1 must have.
func (m *MetaProperties) checkRequired(size int64) *corrupt.Error {
	if m.Version == 0 {
		return nil
	}
	for _, key := range []string{keyClusterID, keyNodeID} {
		if _, ok := m.Properties.Get(key); !ok {
			return m.bad(key, size, "version 1 without %s", key)
		}
	}
	return nil
}

// int32 reads a key's number, or returns fallback where there is no such key.
func (m *MetaProperties) int32(key string, fallback int32) (int32, *corrupt.Error) {
	prop, ok := m.Properties.find(key)
	if !ok {
		return fallback, nil
	}
	n, err := strconv.ParseInt(prop.Value, 10, 32)
	if err != nil {
		return fallback, m.bad(key, 0, "%s %s is no int32", key, quote(prop.Value))
	}
	return int32(n), nil
}

// bad reports a key where it stands, or the whole file of size bytes if it is missing.
func (m *MetaProperties) bad(key string, size int64, format string, args ...any) *corrupt.Error {
	pos := int64(0)
	if prop, ok := m.Properties.find(key); ok {
		pos, size = prop.Pos, prop.Size
		format = "line " + strconv.Itoa(prop.Line) + ": " + format
	}
	err := corrupt.Newf(corrupt.BadMetadata, pos, size, format, args...)
	err.Field = key
	return err
}

// AppendMetaProperties appends the file as Kafka writes it, dated written: its own keys in
// Kafka's order, then the others of m.Properties.
func AppendMetaProperties(dst []byte, m MetaProperties, written time.Time) []byte {
	return AppendProperties(dst, m.all(), written)
}

// all is m's values as properties, in the order in which Java's hash table gives them.
func (m *MetaProperties) all() Properties {
	var p Properties
	if m.NodeID != NoNodeID || m.Version > 0 {
		p.Set(m.nodeKey(), strconv.Itoa(int(m.NodeID)))
	}
	if m.DirectoryID != nil {
		p.Set(keyDirectoryID, m.DirectoryID.String())
	}
	p.Set(keyVersion, strconv.Itoa(int(m.Version)))
	if m.ClusterID != "" {
		p.Set(keyClusterID, m.ClusterID)
	}
	for _, prop := range m.Properties {
		if !isMetaKey(prop.Key) {
			p.Set(prop.Key, prop.Value)
		}
	}
	return p
}

func isMetaKey(key string) bool {
	switch key {
	case keyVersion, keyBrokerID, keyNodeID, keyClusterID, keyDirectoryID:
		return true
	}
	return false
}

// ReadMetaProperties reads the meta.properties file name.
func ReadMetaProperties(fsys vfs.ReadFS, name string) (MetaProperties, error) {
	data, err := readState(fsys, name)
	if err != nil {
		return MetaProperties{NodeID: NoNodeID}, err
	}
	m, err := ParseMetaProperties(data)
	return m, inFile(name, err)
}

// WriteMetaProperties replaces the meta.properties file name atomically, dated written.
func WriteMetaProperties(fsys vfs.FS, name string, m MetaProperties, written time.Time) error {
	return vfs.WriteAtomic(fsys, name, AppendMetaProperties(nil, m, written))
}
