// Package replica makes replicas of a partition follow their leader, one round at a time,
// and elects leaders: what a broker's fetcher threads and the controller do in Kafka,
// here only when somebody says so.
//
// # One round
//
// A round of one partition happens under the partition's lock:
//
//	follower 2                            leader 1               high watermark: 1
//	───────────                           ────────
//	1. where does my last epoch end? ──►  endOffsetFor(epoch)
//	2. cut what the leader never had  ◄── (epoch, end offset)
//	3. fetch from my log end          ──► whole batches, --max-bytes
//	4. append them                    ◄── and the high watermark of before: 1
//	5. my high watermark := min(1, log end)
//	                                   6. ISR := who has joined, less who lags
//	                                   7. high watermark := smallest log end in the ISR
//
// So the leader's high watermark moves in the round itself, and a follower knows of it
// one round later, as in Kafka. Both are lines of the brokers' own
// replication-offset-checkpoint.
//
// A crash anywhere in a round leaves one of the states that the next round begins with:
// a follower's marks are lowered before its log is cut, its log grows by whole batches,
// and the leader's mark is written before the ISR that it is the minimum of grows, and
// after one that shrinks.
//
// # Where a log is cut
//
// By leader epoch (KIP-101, KIP-279): divergence asks as a follower asks its leader. With
// logdir.truncation=hw the old rule holds: whoever becomes a follower, by a new leader or
// by a restart, first cuts its log at its own high watermark, and loses what the leader
// had acknowledged in the last round (experiment 13).
package replica
