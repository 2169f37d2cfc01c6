package store

import "logdir/store/producer"

// Producers restores what producers had done by the newest good snapshot that is not above
// offset, or nothing if there is none. Feeding batches to the state begins at from. Deleted
// records that still stand in the first segment, and a snapshot at its base, tell of
// transactions that are open from before the log start, as a running broker knows them.
func (r *LogReader) Producers(offset int64) (state *producer.State, from int64, err error) {
	first := r.Start()
	if len(r.bases) > 0 {
		first = r.bases[0]
	}
	loaded, err := producer.LoadNewest(r.fs, r.dir, producer.DefaultWindow, first-1, offset)
	return loaded.State, max(loaded.Offset, first), err
}
