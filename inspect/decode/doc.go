// Package decode shows the records of Kafka's internal topics as Kafka's dump tool (4.4)
// prints them, and as JSON.
//
//	topic                   key                value
//	__consumer_offsets      int16 type, ...    int16 version, ...     store/group
//	__transaction_state     int16 type, ...    int16 version, ...     store/txn
//	__share_group_state     int16 type, ...    int16 version, ...
//	__cluster_metadata      null               frame, see Frame       and its snapshots
//	__remote_log_metadata   null               frame, see Frame
//
// What is not known is no damage: a newer broker may have written it. The text then says so in
// Kafka's words, and the JSON has the bytes as hex.
package decode
