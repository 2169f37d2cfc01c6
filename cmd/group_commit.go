package cmd

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/group"
)

// groupCommitOptions are the flags of "logdir group commit".
type groupCommitOptions struct {
	oneMember
	generation int32
	targets    []string
	offset     int64
	given      func(string) bool
}

func newGroupCommitCmd(env *Env) *cobra.Command {
	o := &groupCommitOptions{}
	c := &cobra.Command{
		Use:   "commit GROUP",
		Short: "commit the positions of a member",
		Long: `Commit how far a member has read, or the --offset of some partitions. A member that has not
noticed a newer generation is refused, and so is one that does not have the partition:
somebody else goes on from there.`,
		Example: `  logdir group commit billing --member a
  logdir group commit billing --member a -t orders:0 --offset 42`,
		Annotations: about("0 1 2 3 4 5 6 9 99", "logdir-group(1)"),
		RunE: func(c *cobra.Command, _ []string) error {
			if o.given("offset") != (len(o.targets) > 0) || o.offset < 0 {
				return usagef("--topic T:P and --offset N, which is not negative, go together")
			}
			return env.onCoordinator(c.Context(), func(cl *cluster.Cluster, co *group.Coordinator) error {
				return o.commit(c.Context(), env, cl, co)
			})
		},
	}
	o.addFlags(c)
	fs := c.Flags()
	o.given = fs.Changed
	fs.Int32Var(&o.generation, "generation", 0, "commit as of this generation: a `number` (default the member's)")
	fs.StringArrayVarP(&o.targets, "topic", "t", nil, "commit for these partitions only: a `target` T:P (repeatable)")
	fs.Int64Var(&o.offset, "offset", 0, "with --topic: the next `offset` to read")
	return c
}

func (o *groupCommitOptions) commit(ctx context.Context, env *Env, c *cluster.Cluster, co *group.Coordinator) error {
	v, err := co.View(o.group, o.member)
	if err != nil {
		return err
	}
	generation, positions := v.Generation, v.Positions
	if o.given("generation") {
		generation = o.generation
	}
	if len(o.targets) > 0 {
		if positions, err = o.explicit(c.Meta()); err != nil {
			return err
		}
	}
	done, err := co.Commit(ctx, o.group, o.member, generation, positions)
	if err != nil {
		return err
	}
	return env.Print(committedReport(done))
}

// explicit are the partitions of --topic at --offset.
func (o *groupCommitOptions) explicit(meta *cluster.Meta) ([]group.Position, error) {
	partitions, err := namedPartitions(meta, o.targets)
	if err != nil {
		return nil, err
	}
	positions := make([]group.Position, len(partitions))
	for i, tp := range partitions {
		positions[i] = group.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: o.offset, LeaderEpoch: -1}
	}
	return positions, nil
}

// namedPartitions are the partitions that TARGETs name, each once, by topic and number.
func namedPartitions(meta *cluster.Meta, targets []string) ([]store.TopicPartition, error) {
	var list []store.TopicPartition
	for _, text := range targets {
		t, err := store.ParseTarget(text)
		if err != nil {
			return nil, err
		}
		if err := checkPartitions(meta, t); err != nil {
			return nil, err
		}
		topic, err := meta.Topic(t.Topic)
		if err != nil {
			return nil, err
		}
		for p := range topic.Partitions {
			if t.Has(int32(p)) {
				list = append(list, store.TopicPartition{Topic: t.Topic, Partition: int32(p)})
			}
		}
	}
	slices.SortFunc(list, store.TopicPartition.Compare)
	return slices.Compact(list), nil
}
