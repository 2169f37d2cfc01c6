package inspect

import (
	"context"
	"errors"

	"logdir/store"
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
		for c := range r.commits(dir).all() {
			out = append(out, Committed{c.key.group, c.key.TopicPartition, c.offset})
		}
	}
	return out, nil
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
