package cmd

import (
	"errors"
	"io/fs"
	"path/filepath"

	"logdir/store"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/vfs"
)

// maxJournal bounds what is read of MiniKafka's journal.
const maxJournal = 64 << 20

// readIsolation finds out what a consumer of committed records may see of the offsets from on.
func readIsolation(v *cluster.View, log *store.LogReader, from, highWatermark int64) (*client.Isolation, error) {
	if v.Kind != store.KindMiniKafka {
		return client.ReadIsolation(log, from, highWatermark)
	}
	journal, err := vfs.ReadAll(v.FS, filepath.Join(v.Path, client.JournalFile), maxJournal)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return client.JournalIsolation(journal, highWatermark), nil
}
