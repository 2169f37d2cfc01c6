package cmd

import (
	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/store/cluster"
)

func newTopicCmd(env *Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "topic",
		Short: "create, list, describe, alter and delete topics",
		Long: `Topics of a cluster. Creating one makes and syncs the folders of its partitions first and
publishes its metadata last; a crash in between leaves folders that no metadata names.`,
		Example: `  logdir topic create orders -p 4 -r 2 -c segment.bytes=1048576
  logdir topic describe orders`,
		Annotations: about("0 1 2 3 5 9", "logdir-produce(1)", "logdir-data-dir(5)"),
	}
	c.AddCommand(newTopicCreateCmd(env), newTopicListCmd(env), newTopicDescribeCmd(env),
		newTopicAlterCmd(env), newTopicDeleteCmd(env))
	return c
}

// oneTopic takes the topic from the argument or from --topic.
func oneTopic(args []string, flag string) (string, error) {
	switch {
	case len(args) == 1 && flag == "":
		return args[0], nil
	case len(args) == 0 && flag != "":
		return flag, nil
	case len(args) == 0:
		return "", &usageError{msg: "which topic?"}
	}
	return "", usagef("name the topic once")
}

// topicFlag adds --topic, which stands for the argument.
func topicFlag(c *cobra.Command, topic *string) {
	c.Flags().VarP(flagval.NewOnce(topic), "topic", "t", "the topic, instead of the argument: a `name`")
}

// assignmentReport has a row for each partition of a new topic.
func assignmentReport(t *cluster.Topic) render.Report {
	r := render.Table{Columns: []string{"TOPIC", "PARTITION", "LEADER", "REPLICAS"}}
	for n, p := range t.Partitions {
		r.Rows = append(r.Rows, []any{t.Name, n, leaderCell(p), p.Replicas})
	}
	return r
}

// leaderCell is the leader, or none.
func leaderCell(p *cluster.Partition) any {
	if p.Leader == nil {
		return render.Both{Text: "none"}
	}
	return *p.Leader
}
