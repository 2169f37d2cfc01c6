// Package live moves records between log directories and running clusters: export into
// one, import out of one. It is the only package that opens a connection, and the only
// importer of franz-go.
//
// Export is exactly once. All its records are written in transactions, and each
// transaction commits, with the records, how far the export has come: as offsets of the
// consumer group logdir-export-NAME. Whatever ends a run, the next one first fences it,
// which aborts its open transaction, and then asks the cluster how far it is:
//
//	InitProducerId          ends what an earlier run left open
//	OffsetFetch, stable     where to go on
//	+- AddPartitionsToTxn
//	|  Produce, Produce ... batches of the source, encoded anew
//	|  AddOffsetsToTxn
//	|  TxnOffsetCommit      how far the source is exported
//	+- EndTxn               both become visible, or neither does
//
// Nothing is retried inside a transaction. An error aborts it, and the export goes on
// from what is committed: that is the same path that a killed process takes.
//
// Import copies batches byte for byte as the broker sends them, so that offsets,
// compression, producer ids and control records stay what they are. A log end is all it
// has to remember.
package live
