// Package startup foretells what an Apache Kafka 4.x broker does with a partition
// directory when it starts, without writing: the one rule set behind the forecast of
// check and behind recover's policy kafka.
//
// It goes through the same steps in the same order as the broker's classes, on a
// picture of the directory in memory, in which files are cut, made, removed and renamed:
//
//	LogLoader.load            sweep *.deleted and *.cleaned, finish *.swap, load segments
//	LogLoader.recoverLog      without a clean marker: recover from the recovery point on
//	LogSegment.recover        walk the batches, rebuild the indexes, cut at the first bad one
//	UnifiedLog.rebuildProducerState   snapshots
//	LeaderEpochFileCache      assign, truncate at both ends
//	clean close               the last segment's index files trimmed to their entries
//
// Where the broker throws something that ends its start, the outcome says so with the
// class and the message of the exception.
package startup
