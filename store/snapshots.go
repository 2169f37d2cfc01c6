package store

import "logdir/store/producer"

// Producers restores what producers had done by the newest good snapshot that is not above
// offset, or nothing if there is none. Feeding batches to the state begins at from.
func (r *LogReader) Producers(offset int64) (state *producer.State, from int64, err error) {
	loaded, err := producer.LoadNewest(r.fs, r.dir, producer.DefaultWindow, r.Start(), offset)
	return loaded.State, loaded.Offset, err
}
