package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store/client"
)

// partitionOfOptions are the flags of "logdir partition-of".
type partitionOfOptions struct{ partitions int }

func newPartitionOfCmd(env *Env) *cobra.Command {
	var o partitionOfOptions
	c := &cobra.Command{
		Use:   "partition-of KEY...",
		Short: "show where a key goes under each hash",
		Long: `Show the partition of each key under the hashes that clients use: crc32 (librdkafka,
kcat), md5, and murmur2 (the Java client). No directory is needed.`,
		Example: `  logdir partition-of alice bob -p 3
  logdir partition-of user-42 -p 12 --json`,
		Args:        cobra.MinimumNArgs(1),
		Annotations: about("0 1 2", "logdir-produce(1)", "logdir help concepts"),
		RunE: func(_ *cobra.Command, keys []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return env.Print(o.report(keys))
		},
	}
	c.Flags().IntVarP(&o.partitions, "partitions", "p", 1, "the `number` of partitions")
	return c
}

func (o partitionOfOptions) validate() error {
	if o.partitions < 1 {
		return usagef("--partitions %d: want at least one", o.partitions)
	}
	return nil
}

// report has a row for each key and a column for each hash.
func (o partitionOfOptions) report(keys []string) render.Report {
	t := render.Table{Columns: []string{"KEY"}}
	for _, p := range client.Partitioners {
		t.Columns = append(t.Columns, strings.ToUpper(p.String()))
	}
	for _, key := range keys {
		row := []any{key}
		for _, p := range client.Partitioners {
			row = append(row, p.Partition([]byte(key), o.partitions))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
