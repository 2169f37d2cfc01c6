package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/group"
	"logdir/store/txn"
)

// txnSendOffsets are the flags of "logdir txn send-offsets".
type txnSendOffsets struct {
	oneRun
	group   string
	member  string
	targets []string
	offset  int64
	given   func(flag string) bool
}

func newTxnSendOffsetsCmd(env *Env) *cobra.Command {
	o := &txnSendOffsets{}
	c := &cobra.Command{
		Use:   "send-offsets ID GROUP",
		Short: "publish a group's offsets with the commit",
		Long: `Make offsets of a group part of the open transaction: they are committed if it commits, and
dropped if it aborts. So what was read and what was written come true together.

They are an --offset of some partitions, or the positions of a --member, which must be of
the group's generation.`,
		Example: `  logdir txn send-offsets mover billing -t in:0 --offset 42
  logdir txn send-offsets mover billing --member a`,
		Args:        cobra.ExactArgs(2),
		Annotations: about("0 1 2 3 4 5 6 9 99", "logdir-txn(1)", "logdir-group(1)"),
		RunE: func(c *cobra.Command, args []string) error {
			o.id, o.group = args[0], args[1]
			if err := o.validate(); err != nil {
				return err
			}
			return env.onTxns(c.Context(), store.FsyncClose, func(cl *cluster.Cluster, co *txn.Coordinator) error {
				return o.send(c.Context(), env, cl, co)
			})
		},
	}
	f := c.Flags()
	o.given = f.Changed
	f.StringVar(&o.member, "member", "", "send the positions of this member: a `name`")
	f.StringArrayVarP(&o.targets, "topic", "t", nil, "send an offset for these partitions: a `target` T:P (repeatable)")
	f.Int64Var(&o.offset, "offset", 0, "with --topic: the next `offset` to read")
	o.addTo(f)
	return c
}

func (o *txnSendOffsets) validate() error {
	explicit := len(o.targets) > 0
	switch {
	case o.given("offset") != explicit || o.offset < 0:
		return usagef("--topic T:P and --offset N, which is not negative, go together")
	case explicit == (o.member != ""):
		return usagef("which offsets? --topic T:P --offset N, or --member M for its positions")
	}
	return nil
}

func (o *txnSendOffsets) send(ctx context.Context, env *Env, c *cluster.Cluster, co *txn.Coordinator) (err error) {
	groups := group.NewCoordinator(c)
	defer func() { err = errors.Join(err, groups.Close(context.WithoutCancel(ctx))) }()
	positions, pending, err := o.positions(c, groups)
	if err != nil {
		return err
	}
	s, err := co.Open(ctx, o.id, o.epoch)
	if err != nil {
		return err
	}
	if _, err := s.SendOffsets(ctx, groups, o.group, pending, positions); err != nil {
		return err
	}
	return env.printTxn(s.Transaction)
}

// positions are the offsets that are sent, and in whose name.
func (o *txnSendOffsets) positions(c *cluster.Cluster, groups *group.Coordinator) ([]group.Position, group.Pending, error) {
	if o.member == "" {
		commit := groupCommitOptions{targets: o.targets, offset: o.offset}
		list, err := commit.explicit(c.Meta())
		return list, group.Pending{}, err
	}
	v, err := groups.View(o.group, o.member)
	if err != nil {
		return nil, group.Pending{}, err
	}
	return v.Positions, group.Pending{Member: v.Member, Generation: v.Generation}, nil
}
