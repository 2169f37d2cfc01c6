package cmd

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
	"logdir/store/group"
)

func (o *fetchOptions) addGroupFlags(c *cobra.Command) {
	fs := c.Flags()
	o.reset = string(group.Earliest)
	fs.VarP(flagval.NewOnce(&o.group), "group", "g", "read as a member of this group: a `name`")
	fs.StringVar(&o.member, "member", "", "with --group: the member's `name` (default a new one)")
	fs.BoolVar(&o.noCommit, "no-commit", false, "with --group: do not commit what was read")
	fs.Var(flagval.Enum(&o.reset, wordsOf(group.Resets)...), "reset",
		"with --group: `where` to begin without a committed offset: earliest, latest, or none to refuse")
	flagGroup(c, "as a member of a group", "group", "member", "no-commit", "reset")
}

func (o *fetchOptions) validateGroup() error {
	switch {
	case o.group == "" && (o.member != "" || o.noCommit || o.given("reset")):
		return usagef("--member, --no-commit and --reset need --group")
	case o.group == "":
		return nil
	case o.partitions != "" || strings.ContainsAny(o.target, ":@"):
		return usagef("with --group the group decides who reads which partition: name the topic alone")
	case o.given("offset") && (o.offset.From.Kind != flagval.Stored || o.offset.HasTo):
		return usagef("with --group reading begins at the committed offsets, without any at --reset; other places: logdir group seek")
	case o.upTo == upToLEO:
		return usagef("with --group reading ends at the high watermark")
	}
	return nil
}

// runGroup joins, reads, commits and leaves.
func (o *fetchOptions) runGroup(ctx context.Context, env *Env, filters []recordFilter) error {
	return env.onCoordinator(ctx, func(c *cluster.Cluster, co *group.Coordinator) error {
		v, err := co.Join(ctx, o.join())
		if err != nil {
			return err
		}
		err = o.readAsMember(ctx, env, c, co, v, filters)
		_, left := co.Leave(context.WithoutCancel(ctx), v.Group, v.Member)
		return errors.Join(err, left)
	})
}

func (o *fetchOptions) join() group.Join {
	member := o.member
	if member == "" {
		member = "fetch-" + checkpoint.RandomUUID().String()
	}
	return group.Join{
		Group: o.group, Member: member, Topics: []string{o.target},
		SessionTimeout: group.DefaultSessionTimeout, Reset: group.Reset(o.reset),
	}
}

func (o *fetchOptions) readAsMember(ctx context.Context, env *Env, c *cluster.Cluster, co *group.Coordinator, v *group.View, filters []recordFilter) error {
	p, err := env.newPoll(ctx, c, co, o, v)
	if err != nil {
		return err
	}
	p.fetch.filters, p.leaves = filters, true
	if o.follow {
		return p.follow(ctx, !o.noCommit)
	}
	return p.run(ctx, !o.noCommit)
}
