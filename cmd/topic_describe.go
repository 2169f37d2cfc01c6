package cmd

import (
	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
)

// topicDescribeOptions are the flags of "logdir topic describe".
type topicDescribeOptions struct {
	topic           string
	configs         bool
	underReplicated bool
	unavailable     bool
	underMinISR     bool
	atMinISR        bool
}

func newTopicDescribeCmd(env *Env) *cobra.Command {
	var o topicDescribeOptions
	c := &cobra.Command{
		Use:   "describe [TOPIC]",
		Short: "show leaders, replicas and in-sync replicas, or configs",
		Long: `Show the partitions of one topic or of all. The filters are Kafka's; with several of them a
partition that meets any one is shown. With --configs: every config, its value and where it
is from.`,
		Example: `  logdir topic describe orders
  logdir topic describe --under-replicated-partitions
  logdir topic describe orders --configs`,
		Args:        cobra.MaximumNArgs(1),
		Annotations: about("0 1 2 3 5", "logdir-topic(1)", "logdir-config(5)"),
		RunE: func(_ *cobra.Command, args []string) error {
			return o.run(env, args)
		},
	}
	f := c.Flags()
	topicFlag(c, &o.topic)
	f.BoolVar(&o.configs, "configs", false, "show configs instead")
	f.BoolVar(&o.underReplicated, "under-replicated-partitions", false, "only partitions with replicas that are not in sync")
	f.BoolVar(&o.unavailable, "unavailable-partitions", false, "only partitions without a leader")
	f.BoolVar(&o.atMinISR, "at-min-isr-partitions", false, "only partitions with just min.insync.replicas in-sync replicas")
	f.BoolVar(&o.underMinISR, "under-min-isr-partitions", false, "only partitions with fewer in-sync replicas than min.insync.replicas")
	return c
}

func (o topicDescribeOptions) run(env *Env, args []string) error {
	v, err := env.look(nil)
	if err != nil {
		return err
	}
	if v.Meta == nil {
		return store.Errorf(store.Refused, "", "a bare log directory knows no leaders, replicas and configs").
			WithHint("logdir offsets shows what it has")
	}
	topics := v.Meta.Topics
	if len(args) > 0 || o.topic != "" {
		name, err := oneTopic(args, o.topic)
		if err != nil {
			return err
		}
		t, err := v.Meta.Topic(name)
		if err != nil {
			return err
		}
		topics = []*cluster.Topic{t}
	}
	if o.configs {
		return env.Print(configReport(v.Meta, topics))
	}
	return env.Print(o.report(v.Meta, topics))
}

func (o topicDescribeOptions) report(m *cluster.Meta, topics []*cluster.Topic) render.Report {
	t := render.Table{Columns: []string{"TOPIC", "PARTITION", "LEADER", "LEADER-EPOCH", "REPLICAS", "ISR"}}
	for _, topic := range topics {
		for n, p := range topic.Partitions {
			if o.shows(m, topic, p) {
				t.Rows = append(t.Rows, []any{topic.Name, n, leaderCell(p), p.LeaderEpoch, p.Replicas, p.ISR})
			}
		}
	}
	return t
}

// shows applies the filters.
func (o topicDescribeOptions) shows(m *cluster.Meta, t *cluster.Topic, p *cluster.Partition) bool {
	if !o.underReplicated && !o.unavailable && !o.underMinISR && !o.atMinISR {
		return true
	}
	minimum := min(m.Settings(t).Int(cluster.MinInSync), int64(len(p.Replicas)))
	return o.underReplicated && len(p.ISR) < len(p.Replicas) ||
		o.unavailable && (p.Leader == nil || !m.IsUp(*p.Leader)) ||
		o.atMinISR && int64(len(p.ISR)) == minimum ||
		o.underMinISR && int64(len(p.ISR)) < minimum
}

func configReport(m *cluster.Meta, topics []*cluster.Topic) render.Report {
	t := render.Table{Columns: []string{"TOPIC", "CONFIG", "VALUE", "SOURCE"}}
	for _, topic := range topics {
		s := m.Settings(topic)
		for _, name := range cluster.ConfigNames() {
			value, source := s.Lookup(name)
			t.Rows = append(t.Rows, []any{topic.Name, name, value, source})
		}
	}
	return t
}
