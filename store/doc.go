// Package store reads and writes the logs of partitions in Kafka-style data directories.
//
// A Dir says what a path is and which replicas are below it; a LogReader reads one
// replica and cannot change it; a Log appends to one, rolls it and cuts it.
//
//	broker-1/                          a log dir: Dir, LogDir
//	  .lock                            held by whoever owns it: LockBroker
//	  recovery-point-offset-checkpoint ...
//	  orders-0/                        a replica: PartitionRef, LogReader, Log
//	    00000000000000000000.log       closed segment
//	    00000000000000000000.index
//	    00000000000000000000.timeindex
//	    00000000000000004711.log       active segment, the only one that grows
//	    00000000000000004711.index
//	    00000000000000004711.timeindex
//	    00000000000000004711.snapshot  producers as of offset 4711
//	    leader-epoch-checkpoint        epochs and where they begin
//	    partition.metadata             the topic's id
//
// Whoever holds a Log holds the partition's lock; readers hold none. Which locks there
// are, and in which order they are taken, stands at Locks.
//
// # Crash safety
//
// We assume of the disk: a sync makes a file's bytes survive; a sync of a directory makes
// its names survive; a rename is done or not; bytes once synced are not harmed by later
// writes beside them. We assume nothing of unsynced bytes: any 512 of them may be new,
// old or zero, and none of unsynced names.
//
// Nothing is repaired when a log is opened. A damaged tail is an error that names the
// byte, and recover the command that cuts it: no append ever goes behind damage.
//
// Append: the epoch's line is written and synced if the batch begins one; then the
// frames, in one write; then index entries, which are kept in memory and may be lost with
// the process (the next writer makes them again from the log).
//
//	crash after          leaves                             and then
//	the epoch's line     a line too many                    is dropped when the log is opened
//	part of the frames   a torn tail                        recover cuts it
//	the frames           whole batches, not acknowledged    they stay
//	the sync             nothing that could be lost
//
// Roll: the old segment gets its last time entry and exact index files and, unless
// nothing is ever synced, is synced with all segments before it; the producer snapshot
// is written; only then is the new segment made and its directory synced. So what a power
// cut takes is always the end of the last segment, and never leaves a hole behind it.
// With --fsync never it may, and recover --policy kafka is the way out.
//
// Flush: all segments from the recovery point on are synced, those of earlier commands
// that did not sync too. The caller then checkpoints the recovery point. After a failed
// sync the Log does nothing more: what the system could not write it may have forgotten.
//
// Truncate: see there; each step leaves a log that ends at a batch and can be cut again.
//
// Retention: segments go from the oldest on, the .log first, each synced: what a crash leaves
// is a log that begins somewhere before its new start. A log start offset is checkpointed
// before what lies below it goes.
//
// Compaction, which package cleaner does: segments are written beside as .cleaned, then
// renamed to .swap, then moved in place. A reader takes a .swap for the segment that it will
// be, so no crash in between hides a record from it; and where what it opens is not what it
// listed, it lists the segments again. Settle ends what was interrupted.
//
// Creating a partition: all files, then a sync of the directory, then (one for many
// partitions) of the log dir; package cluster publishes the topic last.
package store
