// Package txn knows transactions: first of all the records in which their coordinator keeps
// them, in the topic __transaction_state.
//
//	key:   int16 type 0, transactionalId
//	value: int16 version 0 or 1 (flexible, since 4.0), producerId, producerEpoch, timeout,
//	       status, partitions, two timestamps, and tagged fields in version 1
//
// A null value is a tombstone. All records of a transactional id stand in one partition, the
// one that group.PartitionOf gives.
package txn
