package cmd

import (
	"errors"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/group"
)

// groupJoinOptions are the flags of "logdir group join".
type groupJoinOptions struct {
	oneMember
	topics         []string
	assignor       string
	sessionTimeout int32
	reset          string
}

func newGroupJoinCmd(env *Env) *cobra.Command {
	o := &groupJoinOptions{}
	c := &cobra.Command{
		Use:   "join GROUP",
		Short: "make somebody a member of a group",
		Long: `Make somebody a member and begin a new generation: the partitions of the topics are divided
anew, and each has one owner. A member without any stands by until another leaves. The
others go on with what they had until they poll.

A member that joins again as before gets what it has; like a consumer that was started again
it goes on at the committed offsets.`,
		Example: `  logdir group join billing --member a -t orders
  logdir group join billing --member b -t orders --assignor sticky`,
		Annotations: about("0 1 2 3 4 5 9", "logdir-group(1)"),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.onCoordinator(c.Context(), func(_ *cluster.Cluster, co *group.Coordinator) error {
				v, err := co.Join(c.Context(), o.join())
				if err != nil {
					return err
				}
				return env.Print(render.Table{Columns: memberColumns, Rows: [][]any{
					memberRow(v.Group, v.Generation, v.Member, partitionsOf(v)),
				}})
			})
		},
	}
	o.addFlags(c)
	members := c.Args
	c.Args = func(c *cobra.Command, args []string) error { return errors.Join(members(c, args), o.check()) }
	return c
}

func (o *groupJoinOptions) addFlags(c *cobra.Command) {
	o.oneMember.addFlags(c)
	o.reset = string(group.Earliest)
	fs := c.Flags()
	fs.StringSliceVarP(&o.topics, "topic", "t", nil, "a topic to read: a `name` (repeatable)")
	fs.Var(flagval.Enum(&o.assignor, wordsOf(group.Assignors)...), "assignor",
		"who gets what: a `name`, roundrobin, range or sticky (default the group's, else roundrobin)")
	fs.Int32Var(&o.sessionTimeout, "session-timeout-ms", group.DefaultSessionTimeout,
		"group expire takes the member out after so many `ms` without a sign of life")
	fs.Var(flagval.Enum(&o.reset, wordsOf(group.Resets)...), "reset",
		"`where` to begin without a committed offset: earliest, latest, or none to refuse")
}

// wordsOf are the words of a flag.
func wordsOf[T ~string](list []T) []string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	return words
}

func (o *groupJoinOptions) check() error {
	switch {
	case len(o.topics) == 0:
		return errors.New("which topic? name it with --topic")
	case o.sessionTimeout < 1:
		return usagef("--session-timeout-ms %d: want at least 1", o.sessionTimeout)
	}
	for _, t := range o.topics {
		if err := store.ValidateTopic(t); err != nil {
			return err
		}
	}
	return nil
}

func (o *groupJoinOptions) join() group.Join {
	return group.Join{
		Group: o.group, Member: o.member, Topics: o.topics, Assignor: group.Assignor(o.assignor),
		SessionTimeout: o.sessionTimeout, Reset: group.Reset(o.reset),
	}
}
