package store

// The places at which a command can be told to die (--failpoint). They are part of the
// interface: scripts name them.
const (
	FailTopicCreate = "topic-create.before-publish" // directories stand, metadata does not name them
	FailMidWrite    = "append.mid-write"            // half a frame on disk
	FailAfterWrite  = "append.after-write"          // records on disk, no acknowledgement
	FailReplicate   = "replicate.after-append"      // the follower has it, the high watermark has not moved
	FailGroupCommit = "group-commit.before-publish" // offsets worked out, not written
	FailDLQ         = "dlq.after-append"            // diverted, nothing reported
	FailTxnPrepared = "txn.after-prepare"           // the end of a transaction is decided, no marker is written
	FailTxnMarker   = "txn.after-marker"            // one partition more has its marker
	FailRecoverCut  = "recover.before-truncate"     // quarantined, not yet cut
)

// FailpointNames lists them, for completion and for the check of a misspelt one.
var FailpointNames = []string{
	FailTopicCreate, FailMidWrite, FailAfterWrite, FailReplicate,
	FailGroupCommit, FailDLQ, FailTxnPrepared, FailTxnMarker, FailRecoverCut,
}

// Failpoints is who decides about them. Where Failpoint returns an error the caller
// stops at once and cleans nothing up, as if the process had ended there.
type Failpoints interface {
	// Armed tells whether the process is to die at name.
	Armed(name string) bool
	// Failpoint dies there if it is armed; in a test it returns an error instead.
	Failpoint(name string) error
}

// never is the Failpoints of a caller that has none.
type never struct{}

func (never) Armed(string) bool      { return false }
func (never) Failpoint(string) error { return nil }
