package live

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
)

func isTooLarge(err error) bool {
	return errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.RecordListTooLarge)
}

// isAboutRecords says that a broker refuses records for what they are; otherwise it
// refuses the partition.
func isAboutRecords(err error) bool {
	return isTooLarge(err) || errors.Is(err, kerr.InvalidRecord) || errors.Is(err, kerr.InvalidTimestamp) ||
		errors.Is(err, kerr.UnsupportedForMessageFormat) || errors.Is(err, kerr.UnsupportedCompressionType)
}

// refused words the refusal of a record, or of the whole partition.
func (s *stream) refused(err error) error {
	if isAboutRecords(err) {
		return worded(err, fmt.Sprintf("%s: offset %d", s.TopicPartition, s.stop))
	}
	return worded(err, s.TopicPartition.String())
}
