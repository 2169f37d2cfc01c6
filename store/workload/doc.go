// Package workload puts load on a topic: many producers and many groups of consumers at
// once, a goroutine each, on the real logs and locks of a cluster, checked while it runs.
//
//	producer -\                         /- consumer of group1 -\
//	producer --+- lane -> leader's log -+- consumer of group1 --+- audit of group1
//	producer -/   one a partition        \- consumer of group2 --- audit of group2
//
// A producer is what it is in any client: it places records and gathers them in batches of
// its own. The batches that close go into the lane of their partition, which all producers
// share: one lock and one write take everything that has closed by then, so that a
// thousand producers cost the log hardly more than one. So that they cost the processor
// hardly more, a crowd of them takes turns at a few desks, see desk.
//
// Every value says which run, producer and message it is, so a consumer's group can tell
// whether a record is missing, came twice, or came out of order.
package workload
