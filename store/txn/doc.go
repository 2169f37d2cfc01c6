// Package txn is the transaction coordinator: records of several partitions and the offsets of
// a group come true together, or not at all.
//
//	begin          the next epoch of the id; what an older run left open is aborted
//	produce        the partition becomes part of the transaction, then gets its records
//	send offsets   the same with __consumer_offsets
//	commit, abort  decided, then a marker in each partition, then complete; see Coordinator.End
//
// What it knows of each transactional id are records in the topic __transaction_state, each
// synced before what follows from it:
//
//	key:   int16 type 0, transactionalId
//	value: int16 version 0 or 1 (flexible, since 4.0), producerId, producerEpoch, timeout,
//	       status, partitions, two timestamps, and tagged fields in version 1
//
// A null value is a tombstone. All records of a transactional id stand in one partition, the
// one that group.PartitionOf gives.
package txn
