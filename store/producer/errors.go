package producer

import (
	"errors"
	"fmt"

	"logdir/store/record"
)

// What can be wrong with a batch of a producer. Match with errors.Is; the text of each is
// Kafka's name of the error.
var (
	// ErrInvalidProducerEpoch: a newer run of the producer is known.
	ErrInvalidProducerEpoch = errors.New("INVALID_PRODUCER_EPOCH")
	// ErrOutOfOrderSequence: a gap, an overlap, or a retry that is no longer remembered.
	ErrOutOfOrderSequence = errors.New("OUT_OF_ORDER_SEQUENCE_NUMBER")
	// ErrInvalidTxnState: a batch outside the producer's open transaction. A broker that
	// finds one in the log does not start.
	ErrInvalidTxnState = errors.New("INVALID_TXN_STATE")
	// ErrCoordinatorFenced: a newer coordinator has written a marker.
	ErrCoordinatorFenced = errors.New("TRANSACTION_COORDINATOR_FENCED")
	// ErrBadMarker: the control record cannot be read. A broker's recovery ends behind it,
	// and the next start fails on it.
	ErrBadMarker = errors.New("INVALID_RECORD")
	// ErrControlType: the control record ends no transaction, or is null. A broker that finds
	// one with a producer id in the log does not start.
	ErrControlType = errors.New("illegal control record")
	// ErrTxnNotStarted: the open transaction was replaced by another one that claims to begin at the
	// same offset. A broker does not start.
	ErrTxnNotStarted = errors.New("transaction was not started")
)

// Error refuses a batch. It unwraps to one of the errors above.
type Error struct {
	Err        error
	ProducerID int64
	// Offset is the batch's base offset as it stands in its header.
	Offset int64
	Detail string
	cause  error
}

// Error says whose batch it is, what is wrong and Kafka's name.
func (e *Error) Error() string {
	return fmt.Sprintf("producer %d: batch %d: %s (%s)", e.ProducerID, e.Offset, e.Detail, e.Err)
}

// Unwrap leads to the kind of error, and to what was found in the marker if it is that.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.cause}
}

func refuse(b *record.Batch, kind error, format string, args ...any) *Error {
	detail := fmt.Errorf(format, args...)
	return &Error{Err: kind, ProducerID: b.ProducerID(), Offset: b.BaseOffset(), Detail: detail.Error(), cause: errors.Unwrap(detail)}
}
