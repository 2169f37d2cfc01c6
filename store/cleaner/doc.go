// Package cleaner compacts a log: of each key the last record stays, offsets never change.
// It is one pass of Kafka's log cleaner.
//
//	 clean                          dirty                     active
//	+------------------------------+-------------------------+-------- -
//	| at most one record of a key  | whatever was produced   |
//	+------------------------------+-------------------------+-------- -
//	0                              first dirty offset        first uncleanable offset
//
// # What stays
//
//  1. The dirty part is read, and the last offset of each key noted. Records without a key,
//     of aborted transactions and control records do not count.
//  2. Clean and dirty part are read together. A record stays if nothing newer with its key
//     was noted. Records without a key go; those of aborted transactions too.
//  3. A tombstone (null value) that stays has its batch stamped with a delete horizon: now
//     plus delete.retention.ms, in the place of the base timestamp, and attribute bit 6.
//     A later pass after that time lets it go. So whoever reads the log in time learns
//     of the deletion.
//  4. The marker of a transaction stays until all records of the transaction are gone. It
//     is stamped then, and goes in a pass after its horizon.
//  5. A batch that loses all its records goes, unless it is the last of a producer that is
//     still remembered (its sequence must not be forgotten) or ends at the high watermark
//     (its offset must not be given out again): that one stays as 61 bytes of header.
//
// A batch from which nothing went, and which gets no stamp, is copied as it is. Others are
// written anew: base offset, last offset, producer, sequence, leader epoch, codec and
// timestamp type stay.
//
// The logs of a cluster's coordinator are cleaned without being asked for, see Upkeep. There
// the old bytes are not kept (step 2 below), and who writes next settles what a crash left.
//
// Only closed segments are cleaned, and of them only those that lie wholly below the last
// stable offset. (Kafka also cleans the one in which that offset lies, and there takes
// records of open transactions for committed ones.) Neighbours are joined while together
// they fit segment.bytes.
//
// # Crash safety
//
//	step                                                  a crash leaves
//	1  write X.log.cleaned and its indexes, sync, date    .cleaned files, to be removed
//	2  keep the old bytes for undo (package recovery)     the same
//	3  rename to .swap, the highest segment first, sync   .cleaned and .swap: all to be removed
//	4  remove the old segments that were joined           .swap, to be moved in place
//	5  X.log.swap to X.log, then its indexes              the same
//	6  the cleaner's checkpoint                           a pass that is done again
//
// A broker's start does just that with each of these states; so does recover --policy
// kafka. Readers of package store take a .swap for the segment that it will be.
package cleaner
