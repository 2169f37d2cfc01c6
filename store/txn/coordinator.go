package txn

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"sync"

	"logdir/store"
	"logdir/store/cleaner"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/record"
)

// Coordinator is the transaction coordinator of a cluster: it keeps what is so of each
// transactional id in coordinator/__transaction_state-0, and writes the markers.
//
// A step of a transaction is made under the lock of its id, on what the log says then, so a
// run that was fenced meanwhile finds out. It may be used by several goroutines.
type Coordinator struct {
	cluster    *cluster.Cluster
	side       *cluster.SideLog
	identities client.Identities

	mu      sync.Mutex
	upkeep  cleaner.Upkeep
	known   *Transactions
	next    int64      // the first offset of the log that is not in known
	log     *store.Log // once something was written
	builder *record.Builder
	frame   []byte // reused
}

// NewCoordinator returns the coordinator of a cluster. It opens no file.
func NewCoordinator(c *cluster.Cluster) *Coordinator {
	side := c.CoordinatorLog(store.TopicPartition{Topic: Topic})
	return &Coordinator{
		cluster: c, side: side, identities: client.NewIdentities(c),
		upkeep: cleaner.Upkeep{Cluster: c, Side: side},
		known:  NewTransactions(), builder: record.NewBuilder(),
	}
}

// maxID bounds a transactional id: it becomes part of a file's name.
const maxID = 200

// checkID refuses an id that is empty, or too long for a file's name.
func checkID(id string) error {
	switch {
	case id == "":
		return store.Errorf(store.Usage, "INVALID_REQUEST", "the transactional id is empty")
	case len(url.PathEscape(id)) > maxID:
		return store.Errorf(store.Usage, "INVALID_REQUEST", "the transactional id is longer than %d bytes", maxID)
	}
	return nil
}

// lock takes the lock of a transactional id: the first of all locks, held while others
// come and go.
func (c *Coordinator) lock(ctx context.Context, id string) (io.Closer, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	return c.cluster.Locks().Transaction(ctx, id)
}

// step runs do on what is known of an id, under its lock. A transaction whose end is
// decided is finished first.
func (c *Coordinator) step(ctx context.Context, id string, do func(t Transaction, known bool) error) (err error) {
	lock, err := c.lock(ctx, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := c.cluster.Reload(); err != nil {
		return err
	}
	t, ok, err := c.find(id)
	if err != nil {
		return err
	}
	if t.prepared() {
		if t, err = c.complete(ctx, t); err != nil {
			return err
		}
	}
	return do(t, ok)
}

// find is what the log says of an id now.
func (c *Coordinator) find(id string) (Transaction, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.catchUp(); err != nil {
		return Transaction{}, false, err
	}
	t, ok := c.known.Find(id)
	return t, ok, nil
}

// All are all transactional ids as the log tells them now.
func (c *Coordinator) All() ([]Transaction, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.catchUp()
	return c.known.All(), err
}

// catchUp takes in what was written since the last time, by whomever.
func (c *Coordinator) catchUp() (err error) {
	c.next, err = c.side.Follow(c.next, func(b *record.Batch) { c.known.Update(b) })
	return err
}

// write makes t what is known of its id. It is synced when it returns: what follows, such
// as a marker, must not outlive it.
func (c *Coordinator) write(ctx context.Context, t Transaction) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.build(&t); err != nil {
		return err
	}
	if err := c.append(ctx); err != nil {
		return err
	}
	if err := c.take(); err != nil {
		return err
	}
	c.cluster.Info(component, "state", slog.String("transactional_id", t.ID), slog.String("state", t.State.String()),
		slog.Int("epoch", int(t.Epoch)), slog.Int("partitions", len(t.Partitions)))
	return nil
}

// take takes in the frame that was appended: by itself, if nobody wrote since the last time.
func (c *Coordinator) take() error {
	b, damage := record.View(c.frame)
	if damage != nil || b.BaseOffset() != c.next {
		return c.catchUp()
	}
	c.known.Update(&b)
	c.next = b.NextOffset()
	return nil
}

// component is the name of this package's lines in the structured log.
const component = "txn"

func (c *Coordinator) build(t *Transaction) error {
	r := record.Record{Timestamp: t.Updated}
	var err error
	if r.Key, err = t.AppendKey(nil); err != nil {
		return err
	}
	if r.Value, err = t.AppendValue(nil); err != nil {
		return err
	}
	c.builder.Reset(record.NoProducer())
	c.builder.Append(&r)
	c.frame, err = c.builder.Build(c.frame[:0])
	return err
}

// append writes the frame that was built, under the lock of the log.
func (c *Coordinator) append(ctx context.Context) (err error) {
	lock, err := c.side.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if c.log == nil {
		c.log, err = c.side.Open(ctx)
	} else {
		err = c.log.Refresh()
	}
	if err != nil {
		return err
	}
	if err := c.upkeep.Do(ctx, c.log); err != nil {
		return err
	}
	if _, err := c.log.Append(c.frame, 0); err != nil {
		return err
	}
	_, err = c.log.Flush()
	return err
}

// Close closes the log.
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
	return errors.Join(log.Close(), lock.Close())
}
