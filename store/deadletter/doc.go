// Package deadletter is the queue beside the topics: what a full partition did not take, or
// a handler could not deal with, is kept there until somebody tries again.
//
//	DATA/dlq/                       a log dir, one queue for each partition
//	  orders-0/                     the queue of orders:0, an ordinary log of v2 batches
//	  log-start-offset-checkpoint   how far each queue was dealt with
//
// A batch is diverted as a unit and stays one. Its records are as they were, with headers
// behind their own that say why they are here:
//
//	logdir.dlq.reason    partition-full, or handler-failed
//	logdir.dlq.retries   how often it was tried again before that
//	logdir.dlq.group     whose handler failed
//
// Offsets in a queue are its own. What was retried lies below the log start offset: it is
// pending no more, but stands there to be looked at until it is purged.
package deadletter
