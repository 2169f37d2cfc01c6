package group

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"logdir/store"
	"logdir/store/cleaner"
	"logdir/store/cluster"
	"logdir/store/record"
)

// Topic is the internal topic in which the coordinator keeps the groups. In a cluster of
// ours it has one partition.
const Topic = "__consumer_offsets"

// component is the name of this package's lines in the structured log.
const component = "group"

// Coordinator is the group coordinator of a cluster: it changes groups and writes what is so
// afterwards to coordinator/__consumer_offsets-0, one batch a change. A change is made under
// its group's lock, on what the log says then; whether other groups change meanwhile does
// not matter.
//
// It may be used by several goroutines.
type Coordinator struct {
	cluster *cluster.Cluster
	side    *cluster.SideLog

	mu      sync.Mutex
	state   *State
	next    int64 // the first offset of the log that is not in state
	upkeep  cleaner.Upkeep
	log     *store.Log // once something was appended
	builder *record.Builder
	frame   []byte // reused
}

// NewCoordinator returns the coordinator of a cluster. It opens no file.
func NewCoordinator(c *cluster.Cluster) *Coordinator {
	co := &Coordinator{
		cluster: c, side: c.CoordinatorLog(store.TopicPartition{Topic: Topic}),
		state: NewState(), builder: record.NewBuilder(),
	}
	co.upkeep = cleaner.Upkeep{
		Cluster: c, Side: co.side,
		Keep: func() (func(*record.Record) bool, error) { return co.state.needs, co.catchUp() },
	}
	return co
}

// change is one change of a group, made while its lock is held.
type change struct {
	c   *Coordinator
	ctx context.Context
	id  string
	now int64  // ms
	g   *Group // nil if there is no such group
}

// change runs do on what is known of a group, under the group's lock.
func (c *Coordinator) change(ctx context.Context, group string, do func(*change) error) (err error) {
	if err := checkName("group", group); err != nil {
		return err
	}
	lock, err := c.cluster.Locks().Group(ctx, group)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := c.cluster.Reload(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.catchUp(); err != nil {
		return err
	}
	g, _ := c.state.Group(group)
	return do(&change{c: c, ctx: ctx, id: group, now: c.cluster.Now().UnixMilli(), g: g})
}

// catchUp takes in what was written since the last time, by whomever.
func (c *Coordinator) catchUp() (err error) {
	c.next, err = c.side.Follow(c.next, func(b *record.Batch) { c.state.Update(b) })
	return err
}

// entry is one record of the coordinator's log. A nil value is a tombstone.
type entry struct {
	key   func([]byte) ([]byte, error)
	value func([]byte) ([]byte, error)
}

// write appends entries as one batch, so that all of them count or none, and takes them in.
func (w *change) write(entries ...entry) error {
	if len(entries) == 0 {
		return nil
	}
	if err := w.c.build(record.NoProducer(), w.now, entries); err != nil {
		return err
	}
	if err := w.c.append(w.ctx); err != nil {
		return err
	}
	w.g, _ = w.c.state.Group(w.id)
	return nil
}

func (c *Coordinator) build(m record.Meta, now int64, entries []entry) error {
	c.builder.Reset(m)
	for i, e := range entries {
		r := record.Record{Offset: int64(i), Timestamp: now}
		var err error
		if r.Key, err = e.key(nil); err != nil {
			return err
		}
		if e.value != nil {
			if r.Value, err = e.value(nil); err != nil {
				return err
			}
		}
		c.builder.Append(&r)
	}
	var err error
	c.frame, err = c.builder.Build(c.frame[:0])
	return err
}

// append writes the frame that was built, under the lock that all groups share, and takes
// it in.
func (c *Coordinator) append(ctx context.Context) (err error) {
	lock, err := c.side.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	log, err := c.open(ctx)
	if err != nil {
		return err
	}
	return c.appendTo(log)
}

// appendTo writes the frame into the log, whose lock is held, and takes it in: by itself, if
// nobody wrote since the last time.
func (c *Coordinator) appendTo(log *store.Log) error {
	if _, err := log.Append(c.frame, 0); err != nil {
		return err
	}
	b, damage := record.View(c.frame)
	if damage != nil || b.BaseOffset() != c.next || b.NextOffset() != log.End() {
		return c.catchUp()
	}
	c.state.Update(&b)
	c.next = log.End()
	return nil
}

// open is the log, opened or brought up to date, and compacted if that is due. The caller
// holds its lock.
func (c *Coordinator) open(ctx context.Context) (*store.Log, error) {
	var err error
	if c.log != nil {
		err = c.log.Refresh()
	} else {
		c.log, err = c.side.Open(ctx)
	}
	if err != nil {
		return c.log, err
	}
	return c.log, c.upkeep.Do(ctx, c.log)
}

// Close syncs what was written, unless nothing is to be synced, and closes the log.
func (c *Coordinator) Close(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.log == nil {
		return nil
	}
	log := c.log
	c.log = nil
	lock, err := c.side.Lock(ctx)
	if err != nil {
		return errors.Join(err, log.Close())
	}
	if c := log.Config(); c.Fsync != store.FsyncNever && c.RecoveryPoint != log.End() {
		_, err = log.Flush()
	}
	return errors.Join(err, log.Close(), lock.Close())
}

// Groups are all groups as the log tells them now.
func (c *Coordinator) Groups() ([]*Group, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.catchUp()
	return c.state.Groups(), err
}

func (w *change) info(what string, attrs ...slog.Attr) {
	w.c.cluster.Info(component, what, append([]slog.Attr{slog.String("group", w.id)}, attrs...)...)
}
