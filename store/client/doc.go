// Package client is what a real Kafka client keeps in memory: it places records on
// partitions, gathers them in batches, and appends the batches to the leader's log
// under the promises of acks, retries and producer identities.
//
//	records -> Placer -> Accumulator -> Session -> store.Log
//	           which     which batch    when is it
//	           partition                acknowledged
//
// The three parts know nothing of each other. A Placer is told of closed batches so
// that a sticky run can move on; an Accumulator hands out closed batches as frames; a
// Session writes frames and reports one Result per batch, in the order in which the
// batches were acknowledged.
package client
