package inspect

import (
	"context"
	"errors"
	"fmt"

	"logdir/store"
	"logdir/store/group"
	"logdir/store/vfs"
)

// Committed is the offset up to which a group has read a partition.
type Committed struct {
	Group string
	store.TopicPartition
	Offset int64
}

// ReadCommitted reads the newest committed offset of each group from partition directories
// of __consumer_offsets. Damaged parts are passed over: what stands in them is not known.
func ReadCommitted(ctx context.Context, fsys vfs.ReadFS, dirs []string) ([]Committed, error) {
	var out []Committed
	for _, dir := range dirs {
		r := newCommitReader()
		if err := readCommits(ctx, fsys, dir, r); err != nil {
			return nil, err
		}
		out = append(out, CommittedOf(r.groups.Groups())...)
	}
	return out, nil
}

// CommittedOf lists what groups have committed.
func CommittedOf(groups []*group.Group) (list []Committed) {
	for c := range (commits{groups: groups}).all() {
		list = append(list, Committed{c.key.group, c.key.TopicPartition, c.offset})
	}
	return list
}

func readCommits(ctx context.Context, fsys vfs.ReadFS, dir string, r *commitReader) error {
	log, err := store.OpenReader(fsys, dir, store.ReaderOptions{})
	if err != nil {
		return err
	}
	c := log.From(log.Start())
	for c.Next() {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, c.Close())
		}
		if c.Damage() == nil {
			r.batch(c.Batch())
		}
	}
	return errors.Join(c.Err(), c.Close())
}

// GroupReset is the reset of one committed offset that lies outside of its log.
type GroupReset struct {
	Group string
	store.TopicPartition
	// Start says to where: to the log start instead of the log end.
	Start bool
}

// Ours is the command for groups of a cluster of ours, or of MiniKafka's. dataDir is the data
// directory if it must be named.
func (r GroupReset) Ours(dataDir string) string {
	to := "end"
	if r.Start {
		to = "start"
	}
	flag := ""
	if dataDir != "" {
		flag = "-d " + store.ShellWord(dataDir) + " "
	}
	return fmt.Sprintf("logdir group reset-offsets %s%s -t %s --to %s", flag, store.ShellWord(r.Group), r.TopicPartition, to)
}

// AtBroker is the command for groups of Kafka's, which a running broker has to carry out.
func (r GroupReset) AtBroker() string {
	to := "latest"
	if r.Start {
		to = "earliest"
	}
	return fmt.Sprintf("kafka-consumer-groups.sh --bootstrap-server HOST:PORT --group %s --topic %s --reset-offsets --to-%s --execute",
		store.ShellWord(r.Group), r.TopicPartition, to)
}
