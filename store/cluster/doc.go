// Package cluster is what a controller and its metadata log are in Kafka, as one file:
// cluster.json says which brokers there are, which topics, who holds and who leads each
// partition, and under which configs. The brokers themselves are folders beside it.
//
//	DATA/
//	  cluster.json     this package, replaced as a whole
//	  broker-1/        exactly a Kafka log dir, nothing of ours inside
//	    meta.properties, the checkpoints, .kafka_cleanshutdown after a clean stop
//	    orders-0/      segments; see package store
//	  broker-2/ ...
//	  coordinator/     a log dir with the internal topics
//	  clients/         what real clients keep in memory
//	  dlq/             a log dir with diverted records
//	  quarantine/      what recover and truncate took out
//	  locks/           one lock file per partition, group and broker, one for cluster.json
//
// # Creating a topic
//
// Under the metadata lock: every replica's folder and files are made and synced, the
// folder that holds them is synced, the checkpoints get their lines, and only then is
// cluster.json replaced. A crash before that leaves folders that no metadata names
// (orphans): topic list --orphans shows them, and the next creation takes them over.
//
// # Deleting a topic
//
// The other way round: cluster.json first, then the folders are renamed to Kafka's
// -delete form, then removed. A crash leaves folders that a broker would go on deleting.
package cluster
