package live

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"net"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"logdir/store"
)

// refusals are Kafka's errors that asking again does not change.
var refusals = map[*kerr.Error]store.Class{
	kerr.UnknownTopicOrPartition: store.NotFound,
	kerr.OffsetOutOfRange:        store.NotFound,

	kerr.TopicAuthorizationFailed:           store.Refused,
	kerr.GroupAuthorizationFailed:           store.Refused,
	kerr.ClusterAuthorizationFailed:         store.Refused,
	kerr.TransactionalIDAuthorizationFailed: store.Refused,
	kerr.SaslAuthenticationFailed:           store.Refused,
	kerr.UnsupportedSaslMechanism:           store.Refused,
	kerr.SecurityDisabled:                   store.Refused,
	kerr.InvalidTopicException:              store.Refused,
	kerr.TopicAlreadyExists:                 store.Refused,
	kerr.InvalidPartitions:                  store.Refused,
	kerr.InvalidReplicationFactor:           store.Refused,
	kerr.InvalidConfig:                      store.Refused,
	kerr.InvalidRequest:                     store.Refused,
	kerr.PolicyViolation:                    store.Refused,
	kerr.MessageTooLarge:                    store.Refused,
	kerr.RecordListTooLarge:                 store.Refused,
	kerr.InvalidRecord:                      store.Refused,
	kerr.InvalidTimestamp:                   store.Refused,
	kerr.UnsupportedForMessageFormat:        store.Refused,
	kerr.UnsupportedCompressionType:         store.Refused,
	kerr.InvalidTransactionTimeout:          store.Refused,
	kerr.UnknownMemberID:                    store.Refused,
	kerr.OffsetMetadataTooLarge:             store.Refused,
}

// withMessage is the error of a response, with what the broker says about it.
func withMessage(code int16, message *string) error {
	err := kerr.ErrorForCode(code)
	if message == nil || *message == "" {
		return err
	}
	return &brokerError{err, *message}
}

// brokerError is an error with the broker's own words.
type brokerError struct {
	err     error
	message string
}

func (e *brokerError) Error() string { return e.message }
func (e *brokerError) Unwrap() error { return e.err }

// worded turns an error of Kafka about something into one of ours: class, name, words.
func worded(err error, about string) error {
	if err == nil || isWorded(err) || isDisk(err) {
		return err
	}
	k, ok := errors.AsType[*kerr.Error](err)
	if !ok {
		return lost(err, about)
	}
	class, refused := refusals[k]
	if !refused {
		class = store.NotAcked
	}
	said := k.Description
	if b, ok := errors.AsType[*brokerError](err); ok {
		said = b.message
	}
	said, _, _ = strings.Cut(said, ": [") // a second wording of the same
	e := store.Errorf(class, k.Message, "%s: %s", about, strings.TrimSuffix(lowerFirst(said), "."))
	switch hint := hints[k]; {
	case hint != "":
		return e.WithHint("%s", hint)
	case class == store.NotAcked:
		return e.WithHint("%s", goOn)
	}
	return e
}

// goOn is the hint behind an error that ends a run half-way.
const goOn = "run the same command again: it goes on where this one ended"

// lost is an error of the network, half-way.
func lost(err error, about string) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return store.Errorf(store.NotAcked, "NETWORK_EXCEPTION", "%s: %s", about, reason(err)).WithHint("%s", goOn)
}

func isWorded(err error) bool {
	_, ours := errors.AsType[*store.Error](err)
	return ours
}

// isDisk tells errors of our own files from those of the network.
func isDisk(err error) bool {
	_, disk := errors.AsType[*fs.PathError](err)
	return disk
}

// hints are what to do about an error.
var hints = map[*kerr.Error]string{
	kerr.SaslAuthenticationFailed:           "see sasl.mechanism and sasl.jaas.config in --client-config",
	kerr.UnsupportedSaslMechanism:           "see sasl.mechanism in --client-config",
	kerr.TopicAuthorizationFailed:           "the principal needs WRITE and DESCRIBE to export, READ to import; with --create-topics CREATE",
	kerr.TransactionalIDAuthorizationFailed: "the principal needs WRITE on the transactional id logdir-export-ID",
	kerr.GroupAuthorizationFailed:           "the principal needs READ on the group logdir-export-ID and on those of --groups",
	kerr.MessageTooLarge:                    "raise max.message.bytes of the topic, and run it again to go on",
	kerr.RecordListTooLarge:                 "raise segment.bytes of the topic, and run it again to go on",
	kerr.InvalidTimestamp:                   "widen message.timestamp.before.max.ms and .after.max.ms of the topic, and run it again to go on",
	kerr.InvalidRecord:                      "a compacted topic takes no record without a key",
	kerr.UnknownMemberID:                    "the group is in use: stop its consumers first",
	kerr.InvalidTransactionTimeout:          "lower transaction.timeout.ms in --client-config",
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// worded turns an error of a request into one of ours.
func (c *Cluster) worded(err error) error { return worded(err, strings.Join(c.servers, ",")) }

// unreachable is the error of the very first request: nothing was done yet.
func (c *Cluster) unreachable(err error) error {
	if _, ok := errors.AsType[*kerr.Error](err); ok {
		return c.worded(err)
	}
	why := reason(err)
	return store.Errorf(store.Failed, "BROKER_NOT_AVAILABLE", "%s: %s", strings.Join(c.servers, ","), why).
		WithHint("see --bootstrap-server, and security.protocol in --client-config")
}

// reason is the heart of a network error.
func reason(err error) string {
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return "no such host: " + e.Name
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Err.Error()
	}
	if e, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return e.Error()
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed: is that the right port, and security.protocol?"
	}
	return err.Error()
}

// retriable says that the same may work a moment later: a leader moves, a broker restarts,
// a coordinator is still loading.
func retriable(err error) bool {
	if isWorded(err) || isDisk(err) || errors.Is(err, context.Canceled) {
		return false
	}
	k, ok := errors.AsType[*kerr.Error](err)
	if !ok {
		return true // the network
	}
	_, refused := refusals[k]
	return !refused
}
