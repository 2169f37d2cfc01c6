package cmd

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/group"
	"logdir/store/vfs"
)

func newGroupCmd(env *Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "group",
		Short: "consumer groups: members, assignments and committed offsets",
		Long: `Consumer groups. Their state is records in __consumer_offsets, in Kafka's own schemas: of a
cluster in its coordinator folder, of a real broker's log directory, which is only read, in all
partitions of that topic which stand there. MiniKafka's groups are in its offsets.json.

A member is a name, so that a shell script can play several. Three things stay apart: who
has which partition (the group's assignment), what a member believes to have, and how far it
has read against what it has committed.`,
		Example: `  logdir group join billing --member a -t orders
  logdir group poll billing --member a --commit
  logdir group describe billing`,
		Annotations: about("0 1 2 3 4 5 6 8 9 99 130", "logdir-offsets(1)", "logdir-dlq(1)", "logdir help concepts"),
	}
	c.AddCommand(newGroupListCmd(env), newGroupDescribeCmd(env),
		newGroupJoinCmd(env), newGroupPollCmd(env), newGroupCommitCmd(env), newGroupSeekCmd(env),
		newGroupLeaveCmd(env), newGroupHeartbeatCmd(env), newGroupExpireCmd(env),
		newGroupResetCmd(env), newGroupDeleteCmd(env))
	return c
}

// knownGroups are what is known of groups, and damage that was met on the way.
type knownGroups struct {
	env  *Env
	view *cluster.View
	*group.State
	damage []error // the first of each log
}

// readGroups replays the records of all groups.
func (e *Env) readGroups() (*knownGroups, error) {
	v, err := e.look(nil)
	if err != nil {
		return nil, err
	}
	g := &knownGroups{env: e, view: v, State: group.NewState()}
	if v.Kind == store.KindMiniKafka {
		g.State, err = e.miniKafkaGroups(v.Path)
		return g, err
	}
	g.damage, err = e.replayCoordinator(v, group.Topic, g.ReadLog)
	return g, err
}

// maxMiniKafka bounds what is read of MiniKafka's offsets.json.
const maxMiniKafka = 64 << 20

// miniKafkaGroups reads the groups of MiniKafka's directory.
func (e *Env) miniKafkaGroups(dir string) (*group.State, error) {
	data, err := vfs.ReadAll(e.FS, filepath.Join(dir, group.MiniKafkaFile), maxMiniKafka)
	if errors.Is(err, fs.ErrNotExist) {
		return group.NewState(), nil
	}
	if err != nil {
		return nil, err
	}
	return group.ParseMiniKafka(data)
}
