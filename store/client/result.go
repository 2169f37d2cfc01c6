package client

// Status is what a producer knows of a batch in the end.
type Status uint8

// The statuses, in the words of produce's STATUS column.
const (
	// Acked: the leader, or with acks=all the ISR, has it.
	Acked Status = iota
	// Sent: acks=0 learns nothing more.
	Sent
	// Duplicate: the log had it already; the offsets are the original ones.
	Duplicate
	// TimedOut: it is on the leader, and nobody acknowledged it in time.
	TimedOut
	// Diverted: it is in the dead letter queue.
	Diverted
	// NotWritten: it is nowhere.
	NotWritten
)

var statusNames = [...]string{
	Acked: "acked", Sent: "sent", Duplicate: "duplicate", TimedOut: "timed-out", Diverted: "dlq", NotWritten: "failed",
}

// String is the word of the STATUS column.
func (s Status) String() string { return nameOf(statusNames[:], int(s)) }

// NoOffset stands for an offset that the producer does not learn.
const NoOffset int64 = -1

// Result is the outcome of one batch.
type Result struct {
	Partition int
	Records   int
	// BaseOffset and LastOffset are NoOffset where the producer learns none.
	BaseOffset, LastOffset int64
	Status                 Status
	// Frame is the batch. It is valid only during the call that reports it.
	Frame []byte
}
