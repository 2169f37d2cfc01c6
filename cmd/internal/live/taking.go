package live

import (
	"errors"

	"logdir/store"
	"logdir/store/record"
)

// taking is one partition on its way. One goroutine at a time has it.
type taking struct {
	Wanted
	log      *Partition
	out      Imported
	finished bool
}

// open opens the partition in the directory.
func (t *taking) open(d *Dir, topic *Topic) (err error) {
	t.log, err = d.Open(t.TopicPartition, topic.ID)
	if err != nil {
		return err
	}
	if !t.log.Empty() {
		t.From = max(t.From, t.log.End())
		return nil
	}
	return t.log.BeginAt(t.From)
}

// next is the offset to be fetched next.
func (t *taking) next() int64 { return max(t.log.End(), t.From) }

// wanted cuts what was fetched: whole batches, none before what is there, none at or behind
// To, and no more than is allowed.
func (t *taking) wanted(data []byte, allowed func(int64) bool) []byte {
	from, end := -1, 0
	for rest := data; ; rest = data[end:] {
		size, _, ok := record.Peek(rest)
		if !ok || size > int64(len(rest)) {
			break
		}
		b, err := record.View(rest[:size])
		if err != nil || b.BaseOffset() >= t.To {
			break
		}
		if from < 0 && b.NextOffset() <= t.next() {
			end += int(size)
			continue
		}
		if !allowed(size) {
			break
		}
		if from < 0 {
			from = end
		}
		end += int(size)
	}
	if from < 0 {
		return nil
	}
	return data[from:end]
}

// finish closes a partition whose range is there.
func (t *taking) finish() error {
	t.finished = true
	return t.close()
}

// failed ends a partition; only what is wrong with the disk ends the others too.
func (t *taking) failed(err error) error {
	if _, ours := errors.AsType[*store.Error](err); !ours {
		return err
	}
	t.fail(err)
	return nil
}

// close leaves the partition clean and counts what came.
func (t *taking) close() error {
	if t.log == nil {
		return nil
	}
	start := t.start()
	err := t.log.Close(start)
	t.out.LogStart, t.out.LogEnd = start, t.log.End()
	t.out.Batches, t.out.Bytes = t.out.Batches+t.log.Batches, t.out.Bytes+t.log.Bytes
	t.log = nil
	return err
}

// start is the log start: the first batch may begin before the first offset that was asked
// for.
func (t *taking) start() int64 {
	if first := t.log.Start(); t.log.fresh {
		return max(first, min(t.From, t.log.End()))
	}
	return t.log.Start()
}

// fail ends the partition for good.
func (t *taking) fail(err error) { t.out.Err, t.finished = err, true }
