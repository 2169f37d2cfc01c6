package recovery

import (
	"errors"
	"path/filepath"

	"logdir/store"
	"logdir/store/segment"
)

// refuseMKB1 keeps the policy away from logs that no broker can read: to one, MKB1 frames
// are a bad tail from the first byte on, and it would empty the log.
func (k *kafkaMaker) refuseMKB1() error {
	for _, s := range k.list.Segments {
		mkb1, err := k.inMKB1(s)
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

func (k *kafkaMaker) inMKB1(s segment.Files) (bool, error) {
	f, err := k.fs.Open(filepath.Join(k.plan.Partition.Dir, s.Log))
	if err != nil {
		return false, err
	}
	info, err := f.Stat()
	if err != nil {
		return false, errors.Join(err, f.Close())
	}
	return isMKB1(f, info.Size(), s.Base), f.Close()
}
