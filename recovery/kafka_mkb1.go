package recovery

import (
	"errors"
	"io"
	"path/filepath"

	"logdir/store"
	"logdir/store/record"
)

// refuseMKB1 keeps the policy away from logs that no broker can read: to one, MKB1 frames
// are a bad tail from the first byte on, and it would empty the log.
func (k *kafkaMaker) refuseMKB1() error {
	for _, s := range k.list.Segments {
		mkb1, err := k.beginsMKB1(s.Log)
		if err != nil {
			return err
		}
		if mkb1 {
			return store.Errorf(store.Refused, "", "%s: %s is in MKB1, which a Kafka broker would cut away from its first byte; nothing was changed there",
				k.plan.Partition.TopicPartition, s.Log).WithHint("logdir recover --dry-run %s", k.plan.Partition.target())
		}
	}
	return nil
}

func (k *kafkaMaker) beginsMKB1(name string) (bool, error) {
	f, err := k.fs.Open(filepath.Join(k.plan.Partition.Dir, name))
	if err != nil {
		return false, err
	}
	var prefix [record.PrefixSize]byte
	n, err := f.ReadAt(prefix[:], 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	_, format, ok := record.Peek(prefix[:n])
	return ok && format == record.MKB1, errors.Join(err, f.Close())
}
