package checkpoint

// The names of the files in a log directory.
const (
	// RecoveryPointFile: every offset below is on disk.
	RecoveryPointFile = "recovery-point-offset-checkpoint"
	// HighWatermarkFile: high watermarks.
	HighWatermarkFile = "replication-offset-checkpoint"
	// LogStartFile: log start offsets that lie above the first segment's base offset.
	LogStartFile = "log-start-offset-checkpoint"
	// CleanerFile: the first offset that compaction has not seen.
	CleanerFile = "cleaner-offset-checkpoint"
	// MetaPropertiesFile: whose directory this is.
	MetaPropertiesFile = "meta.properties"
	// CleanShutdownFile is there between a clean stop and the next start.
	CleanShutdownFile = ".kafka_cleanshutdown"
	// LockFile is locked while a process owns the directory.
	LockFile = ".lock"
)

// The names of the files in a partition directory.
const (
	// EpochFile: leader epochs and where they begin.
	EpochFile = "leader-epoch-checkpoint"
	// PartitionMetadataFile: the topic's id.
	PartitionMetadataFile = "partition.metadata"
	// QuorumStateFile: the KRaft election, in __cluster_metadata-0.
	QuorumStateFile = "quorum-state"
)

// OffsetFiles are the four offset checkpoints of a log directory.
var OffsetFiles = []string{RecoveryPointFile, HighWatermarkFile, LogStartFile, CleanerFile}

// TempSuffix ends the name of a file that is being written.
const TempSuffix = ".tmp"

// maxFile bounds what is read of a state file. Kafka's largest, a checkpoint of a
// hundred thousand partitions with the longest names, is below it.
const maxFile = 64 << 20
