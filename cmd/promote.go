package cmd

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/replica"
)

// promoteOptions are the flags of "logdir promote".
type promoteOptions struct {
	to  int32
	all bool
	replica.Vote
}

func newPromoteCmd(env *Env) *cobra.Command {
	o := &promoteOptions{}
	c := &cobra.Command{
		Use:   "promote TOPIC:P --to BROKER",
		Short: "make a replica the leader of its partition",
		Long: `Elect a leader: what a controller does, when you say so. The leader epoch goes up by one,
which fences producers that believe in the old one, and the new leader's log becomes the
truth: whoever follows it cuts what it does not have.

A replica that is not in sync lacks records that were acknowledged. --unclean elects it
nonetheless; then nobody else is in sync.`,
		Example: `  logdir promote orders:0 --to 2
  logdir promote orders:0 --to 3 --unclean
  logdir promote --all`,
		Args:        o.checkArgs,
		Annotations: about("0 1 2 3 4 5 9", "logdir-broker(1)", "logdir-replicate(1)", "logdir-diff(1)"),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), env, args)
		},
	}
	f := c.Flags()
	f.Int32Var(&o.to, "to", store.NoBroker, "the new leader: the `number` of a broker")
	f.BoolVar(&o.all, "all", false, "elect the first live in-sync replica for every partition without a leader")
	f.BoolVar(&o.Unclean, "unclean", false, "allow a replica that is not in sync: acknowledged records are lost")
	f.BoolVar(&o.DryRun, "dry-run", false, "show the outcome, but write nothing")
	return c
}

func (o *promoteOptions) checkArgs(_ *cobra.Command, args []string) error {
	switch {
	case o.all && (len(args) > 0 || o.to != store.NoBroker):
		return usagef("--all elects for every partition without a leader: no TOPIC:P and no --to beside it")
	case o.all:
		return nil
	case len(args) == 0:
		return usagef("which partition? TOPIC:P, or --all")
	case len(args) > 1:
		return usagef("one partition at a time, or --all")
	case o.to < 0:
		return usagef("which broker? --to BROKER")
	}
	return nil
}

func (o *promoteOptions) run(ctx context.Context, env *Env, args []string) error {
	c, err := env.openCluster(store.FsyncClose)
	if err != nil {
		return err
	}
	return errors.Join(o.promote(ctx, env, c, args), c.Close())
}

// candidacy is a broker that is to lead a partition.
type candidacy struct {
	tp store.TopicPartition
	to int32
}

func (o *promoteOptions) promote(ctx context.Context, env *Env, c *cluster.Cluster, args []string) error {
	candidates, err := o.candidates(c.Meta(), args)
	failed := []error{err}
	rows := env.Stream([]string{"TOPIC", "PARTITION", "FROM", "TO", "LEADER-EPOCH", "LOG-END", "HIGH-WATERMARK", "ELECTION"})
	for _, who := range candidates {
		e, err := replica.Promote(ctx, c, who.tp, who.to, o.Vote)
		switch {
		case errors.Is(err, replica.ErrElectionNotNeeded):
			env.Note("broker %d leads %s already (ELECTION_NOT_NEEDED)", who.to, who.tp)
		case err != nil:
			failed = append(failed, err)
		default:
			err = rows.Row(e.Topic, e.Partition, fromCell(e.From), e.To, e.LeaderEpoch, e.LogEnd, e.HighWatermark, electionWord(e.Clean))
			failed = append(failed, err)
		}
	}
	return errors.Join(append(failed, rows.Close())...)
}

// candidates is whom to elect; for --all with an error about each partition that nobody
// can lead.
func (o *promoteOptions) candidates(m *cluster.Meta, args []string) ([]candidacy, error) {
	if !o.all {
		tp, err := onePartition(args[0])
		if err != nil {
			return nil, err
		}
		return []candidacy{{tp, o.to}}, nil
	}
	var all []candidacy
	var errs []error
	for _, tp := range replica.Leaderless(m) {
		to, err := replica.Candidate(m, tp, o.Unclean)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, candidacy{tp, to})
	}
	return all, errors.Join(errs...)
}

// onePartition reads TOPIC:P.
func onePartition(text string) (store.TopicPartition, error) {
	t, err := store.ParseTarget(text)
	if err != nil {
		return store.TopicPartition{}, err
	}
	if len(t.Parts) != 1 || t.Parts[0].From != t.Parts[0].To || t.Broker != store.NoBroker {
		return store.TopicPartition{}, usagef("%q: want one partition, TOPIC:P", text)
	}
	return store.TopicPartition{Topic: t.Topic, Partition: t.Parts[0].From}, nil
}

// fromCell is the broker that led before, or none.
func fromCell(broker int32) any {
	if broker == store.NoBroker {
		return render.Both{Text: "none"}
	}
	return render.Both{Text: strconv.Itoa(int(broker)), JSON: broker}
}

func electionWord(clean bool) string {
	if clean {
		return "clean"
	}
	return "unclean"
}
