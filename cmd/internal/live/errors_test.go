package live

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"logdir/store"
)

func TestErrors(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	full := &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	for _, tt := range []struct {
		err   error
		again bool
		class store.Class
		text  string
	}{
		{kerr.NotLeaderForPartition, true, store.NotAcked, "it: this server is not the leader for that topic-partition (NOT_LEADER_FOR_PARTITION)"},
		{kerr.TopicAuthorizationFailed, false, store.Refused, "it: not authorized to access topics (TOPIC_AUTHORIZATION_FAILED)"},
		{&brokerError{kerr.PolicyViolation, "Too many partitions."}, false, store.Refused, "it: too many partitions (POLICY_VIOLATION)"},
		{refused, true, store.NotAcked, "it: connection refused (NETWORK_EXCEPTION)"},
		{io.EOF, true, store.NotAcked, "it: the connection was closed: is that the right port, and security.protocol? (NETWORK_EXCEPTION)"},
	} {
		e, ok := errors.AsType[*store.Error](worded(tt.err, "it"))
		if !ok || e.Class != tt.class || e.Error() != tt.text {
			t.Errorf("%v: got %v", tt.err, worded(tt.err, "it"))
		}
		if retriable(tt.err) != tt.again {
			t.Errorf("%v: try again is %v", tt.err, !tt.again)
		}
	}
	for _, err := range []error{full, context.Canceled} { // not the network's: said as they are
		if retriable(err) || worded(err, "it") != err {
			t.Errorf("%v became %v", err, worded(err, "it"))
		}
	}
}
