// Package segment walks and extends segment files: a log is cut into segments, each
// named by the smallest offset it may hold.
//
//	00000000000000000042.log        batches, one behind the other, nothing between them
//	00000000000000000042.index      offset to position, sparse
//	00000000000000000042.timeindex  timestamp to offset, sparse
//	00000000000000000042.txnindex   aborted transactions, if there are any
//	00000000000000000042.snapshot   what was known of producers below offset 42
//
// Scanner reads a .log critically: every frame is checked, damage is classified, and the
// scan goes on behind it. FrameScanner reads it as Kafka's own dump tool does: it trusts
// each size field and stops where that leads nowhere. Appender writes.
package segment
