package startup

import (
	"fmt"
	"slices"
)

// Exception is a Java exception as the broker would log it.
type Exception struct {
	// Class is the simple name, as CorruptRecordException.
	Class   string
	Message string
}

// Error is class and message.
func (e *Exception) Error() string { return e.Class + ": " + e.Message }

func throw(class, format string, args ...any) *Exception {
	return &Exception{class, fmt.Sprintf(format, args...)}
}

// The exceptions that the load of a log tells apart.
const (
	corruptRecord    = "CorruptRecordException"
	invalidRecord    = "InvalidRecordException"
	invalidOffset    = "InvalidOffsetException"
	offsetOverflow   = "LogSegmentOffsetOverflowException"
	illegalArgument  = "IllegalArgumentException"
	numberFormat     = "NumberFormatException"
	illegalState     = "IllegalStateException"
	noSuchElement    = "NoSuchElementException"
	noSuchFile       = "NoSuchFileException"
	indexOutOfBounds = "IndexOutOfBoundsException"
	kafkaException   = "KafkaException"
	ioException      = "IOException"
	storageError     = "KafkaStorageException"
)

// is says whether err is a Java exception of one of the classes.
func is(err error, classes ...string) bool {
	e, ok := err.(*Exception)
	if !ok {
		return false
	}
	return slices.Contains(classes, e.Class)
}

// join keeps the first error, so that an exception is not wrapped.
func join(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
