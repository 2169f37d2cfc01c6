// Package checkpoint reads and writes the small state files of a log directory: offset
// checkpoints, leader epochs, partition.metadata, meta.properties, the clean-shutdown
// marker and quorum-state. They are text, and few bytes of it keep a broker down, so
// reading follows Kafka's readers to the letter and names line and byte of what they
// would stumble over.
//
// # Offset checkpoints (Kafka: CheckpointFile)
//
// recovery-point-offset-checkpoint, replication-offset-checkpoint (high watermarks),
// log-start-offset-checkpoint and cleaner-offset-checkpoint stand in the log directory:
//
//	+--------------+
//	| 0            |  version, always 0
//	| 2            |  number of entries
//	| orders 0 42  |  topic partition offset
//	| orders 1 7   |
//	+--------------+
//
//	line  field      meaning
//	1     version    0
//	2     entries    how many lines follow, exactly
//	3..   topic      a name without white space
//	3..   partition  int32
//	3..   offset     int64
//
// leader-epoch-checkpoint stands in the partition directory and has two fields a line:
//
//	line  field        meaning
//	1     version      0
//	2     entries      how many lines follow, exactly
//	3..   epoch        int32, rising
//	3..   startOffset  int64, the first offset of that epoch, rising
//
// A file without bytes, or with a version line alone, holds no entries: a broker
// creates it so. Fields are separated by any run of white space. The last line need not end in
// a line feed, but an empty line is malformed, at the end too. A line may end in CR LF.
//
// # partition.metadata (Kafka: PartitionMetadataFile)
//
//	+----------------------------------+
//	| version: 0                       |
//	| topic_id: EAAAAAAAAAAAAAAAAAAwOQ |  no line feed at the end
//	+----------------------------------+
//
// # meta.properties (Kafka: MetaProperties)
//
// Java properties. Version 0 (a ZooKeeper broker) has broker.id and maybe cluster.id,
// version 1 (KRaft) must have node.id and cluster.id; both may have directory.id.
//
// # Writing
//
// Each file is written beside itself with the suffix .tmp, synced and renamed, and the
// directory is synced: after a crash it is the old one or the new one.
package checkpoint
