package group

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/corrupt"
	"logdir/store/vfs"
)

// View is what a member believes, which a real client keeps in memory: the assignment that
// it knows, be it an old one, and how far it has read. It stands in
// clients/groups/GROUP/MEMBER.json:
//
//	{"version":1,"group":"billing","member":"a","generation":3,"reset":"earliest",
//	 "heartbeat":1767225600000,
//	 "positions":[{"topic":"orders","partition":0,"offset":2,"leader_epoch":0}]}
type View struct {
	Version    int    `json:"version"`
	Group      string `json:"group"`
	Member     string `json:"member"`
	Generation int32  `json:"generation"`
	// Reset says where to begin without a committed offset.
	Reset Reset `json:"reset"`
	// Heartbeat is when the coordinator last heard of the member, ms. A coordinator has
	// that in memory, too: no record tells it.
	Heartbeat int64 `json:"heartbeat"`
	// Positions has one entry for each partition that the member believes to have, by
	// topic and partition.
	Positions []Position `json:"positions"`
}

// Position is how far a member has read.
type Position struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// Offset is that of the next record to read, or Unset. LeaderEpoch is that of the last
	// record read, or -1.
	Offset      int64 `json:"offset"`
	LeaderEpoch int32 `json:"leader_epoch"`
}

// Unset is the offset of a position that is not known: nothing is committed and the reset
// policy is none, or the partition had no leader to ask.
const Unset int64 = -1

// TopicPartition is what the position is in.
func (p Position) TopicPartition() store.TopicPartition {
	return store.TopicPartition{Topic: p.Topic, Partition: p.Partition}
}

// Reset is the policy for partitions without a committed offset (auto.offset.reset).
type Reset string

// The policies.
const (
	Earliest Reset = "earliest"
	Latest   Reset = "latest"
	NoReset  Reset = "none"
)

// Resets lists them.
var Resets = []Reset{Earliest, Latest, NoReset}

// Position finds the position in a partition; nil if the member does not believe to have it.
func (v *View) Position(tp store.TopicPartition) *Position {
	at := slices.IndexFunc(v.Positions, func(p Position) bool { return p.TopicPartition() == tp })
	if at < 0 {
		return nil
	}
	return &v.Positions[at]
}

const (
	viewVersion = 1
	viewsDir    = "groups"
	viewSuffix  = ".json"
	// maxView bounds what is read of a view: some hundred thousand partitions.
	maxView = 64 << 20
)

// groupViews is the folder of a group's views in a cluster's data directory.
func groupViews(data, group string) string {
	return filepath.Join(data, cluster.ClientsDir, viewsDir, escape(group))
}

func viewFile(data, group, member string) string {
	return filepath.Join(groupViews(data, group), escape(member)+viewSuffix)
}

// escape makes a file name of any name: no slash, and no dot in front.
func escape(name string) string {
	name = url.PathEscape(name)
	if name[0] == '.' {
		name = "%2E" + name[1:]
	}
	return name
}

// ReadView reads what a member believes in the cluster with the data directory data. One
// that never wrote anything down believes nothing.
func ReadView(fsys vfs.ReadFS, data, group, member string) (*View, error) {
	v := &View{Version: viewVersion, Group: group, Member: member, Reset: Earliest}
	name := viewFile(data, group, member)
	raw, err := vfs.ReadAll(fsys, name, maxView)
	if errors.Is(err, fs.ErrNotExist) {
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return nil, badView(name, err)
	}
	if v.Version != viewVersion || v.Group != group || v.Member != member {
		return nil, badView(name, fmt.Errorf("version %d of member %q in group %q", v.Version, v.Member, v.Group))
	}
	return v, nil
}

func badView(name string, err error) error {
	bad := corrupt.New(corrupt.BadMetadata, 0, corrupt.Unknown, err.Error())
	bad.Path = name
	return bad
}

// write writes the view down. The caller holds the group's lock.
func (v *View) write(c *cluster.Cluster) error {
	if v.Positions == nil {
		v.Positions = []Position{}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := c.FS().MkdirAll(groupViews(c.Path(), v.Group)); err != nil {
		return err
	}
	return vfs.WriteAtomic(c.FS(), viewFile(c.Path(), v.Group, v.Member), append(raw, '\n'))
}

// forget removes the view of a member that left.
func forget(c *cluster.Cluster, group, member string) error {
	err := c.FS().Remove(viewFile(c.Path(), group, member))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeViews removes what expired members of a group left.
func removeViews(c *cluster.Cluster, group string) error {
	return vfs.RemoveAll(c.FS(), groupViews(c.Path(), group))
}

// ListGroups lists the groups that have, or had, members here, by name. It reads one folder.
func ListGroups(fsys vfs.ReadFS, data string) []string {
	return listNames(fsys, filepath.Join(data, cluster.ClientsDir, viewsDir), "")
}

// ListMembers lists the members of a group whose views stand here, by name.
func ListMembers(fsys vfs.ReadFS, data, group string) []string {
	if checkName("group", group) != nil {
		return nil
	}
	return listNames(fsys, groupViews(data, group), viewSuffix)
}

// listNames undoes escape on the names of a folder; one that cannot be read has none.
func listNames(fsys vfs.ReadFS, dir, suffix string) []string {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		file, ok := strings.CutSuffix(e.Name(), suffix)
		if name, err := url.PathUnescape(file); ok && err == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
