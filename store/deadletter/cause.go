package deadletter

import (
	"bytes"
	"log/slog"
	"slices"
	"strconv"

	"logdir/store/record"
)

// Reason is why records were diverted.
type Reason string

// The reasons.
const (
	PartitionFull Reason = "partition-full"
	HandlerFailed Reason = "handler-failed"
)

// The headers of dead letters. All others are the record's own.
const (
	headerPrefix  = "logdir.dlq."
	ReasonHeader  = headerPrefix + "reason"
	RetriesHeader = headerPrefix + "retries"
	GroupHeader   = headerPrefix + "group"
)

// Cause is what the headers say.
type Cause struct {
	Reason  Reason
	Retries int    // how often it was tried again
	Group   string // whose handler failed, or ""
}

func (c Cause) headers() []record.Header {
	all := []record.Header{
		{Key: []byte(ReasonHeader), Value: []byte(c.Reason)},
		{Key: []byte(RetriesHeader), Value: strconv.AppendInt(nil, int64(c.Retries), 10)},
	}
	if c.Group != "" {
		all = append(all, record.Header{Key: []byte(GroupHeader), Value: []byte(c.Group)})
	}
	return all
}

func (c Cause) attrs() []slog.Attr {
	all := []slog.Attr{slog.String("reason", string(c.Reason)), slog.Int("retries", c.Retries)}
	if c.Group != "" {
		all = append(all, slog.String("group", c.Group))
	}
	return all
}

// strip takes our headers off a record.
func strip(r *record.Record) {
	r.Headers = slices.DeleteFunc(r.Headers, func(h record.Header) bool { return bytes.HasPrefix(h.Key, []byte(headerPrefix)) })
}
