// Package group knows consumer groups: first of all the records in which their coordinator
// keeps them, in the topic __consumer_offsets.
//
//	 int16   fields of the key            int16     fields of the value
//	+------+------------------- -        +---------+------------------- -
//	| type | group, ...                  | version | ...
//	+------+------------------- -        +---------+------------------- -
//
//	type  key                        value                                   since
//	 0 1  group, topic, partition    a committed offset                      0.8.2
//	 2    group                      generation and members                  0.9
//	 3-8  groupId, maybe memberId    consumer groups of KIP-848              3.5
//	10-15 groupId, maybe memberId    share groups                            3.9
//	16    groupId, regularExpression topics that an expression matches       4.0
//	17-23 groupId, maybe memberId    streams groups                          4.1
//
// The type tells the layout of the key, which is never flexible, and together with the
// version that of the value. A null value is a tombstone: what the key names is gone. All
// records of a group stand in one partition, see PartitionOf.
//
// Types 3 and up are flexible from their version 0 on; a committed offset and the state of
// a classic group from version 4 on, which no release writes yet. RecordTypes has all schemas.
//
// State replays such records, of any log directory, into groups with their members and
// committed offsets.
//
// # Changing groups
//
// A Coordinator is what changes the groups of a cluster of ours. Each change is made under
// the group's lock, on what the log says then, and is one batch of the log: a crash leaves it
// whole, or not at all, or as a torn tail that recover cuts. Every join and leave begins a
// generation, in which an Assignor gives each partition one owner. Nothing else does: no timer
// runs, and no member notices anything before it asks.
//
// The log is compacted when it has grown (cleaner.Upkeep). Of a group's metadata more than the
// last record stays then: those of all generations since one of its members has what it has.
//
// A View is what a member believes, which a real client has in memory: the generation that
// it knows, its partitions and its positions. It is written after the log, and only under the
// group's lock; to lose it loses what was read and not committed, as the death of a client
// does. A partition keeps its position only in the hands of a member that has had it in all
// generations between; any other owner begins at the committed offset. So a commit can only
// come from the newest generation and from the owner, and never takes an offset back by
// accident.
package group
