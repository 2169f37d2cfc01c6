package cmd

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/input"
	"logdir/store"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/txn"
)

// produceOptions are the flags of "logdir produce".
type produceOptions struct {
	topic string
	files []string // a record each

	lines        []string
	input        string // inputLines or inputJSON
	keyDelimiter string
	delimiter    string
	key          string
	headers      []string
	tombstone    bool
	maxMessages  int64
	tee          bool
	console      input.Console   // of the reader properties
	reader       *textProperties // of Kafka's console producer

	partition   int32
	partitioner string
	unkeyed     string

	batchSize      int
	lingerMs       int64
	acks           string
	requestTimeout int64 // ms
	replicate      bool
	compression    string
	fsync          string
	retries        int
	retryBackoff   int64 // ms
	noDLQ          bool

	idempotent      bool
	transactionalID string
	producerID      int64
	producerEpoch   int32
	baseSequence    int32
	leaderEpoch     int32
	loseAcks        int
	crashAfter      int64
	properties      properties

	report string

	transaction *txn.Session // of "txn produce", which writes into it; else nil

	given func(flag string) bool // set by the user, wherever
}

func newProduceCmd(env *Env) *cobra.Command {
	o := &produceOptions{}
	c := &cobra.Command{
		Use:   "produce TOPIC [FILE...]",
		Short: "append records to a topic",
		Long: `Read records, one per line of standard input (or one per FILE), place them on
partitions, gather them in batches and append those to the leaders. One invocation is one
producer session: end of input or Ctrl-C closes it cleanly, --crash-after does not.

acks is 1 by default, and not all as in Kafka: followers move only when they are told to,
so all would wait for them in vain; see --replicate.`,
		Example: `  echo alice:created | logdir produce orders -K :
  logdir fetch orders -J | logdir produce copy --input json
  seq 1000 | logdir produce orders --batch-size 1 --report record`,
		Args:        o.checkArgs,
		Annotations: about("0 1 2 3 4 5 6 7 8 9 99 130", "logdir-produce(1)", "logdir help format"),
	}
	o.addFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error { return o.run(c.Context(), env, args) }
	return c
}

// checkArgs wants a topic, but for a question that needs none.
func (o *produceOptions) checkArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 && o.topic == "" && !o.properties.list {
		return errors.New("which topic?")
	}
	return nil
}

func (o *produceOptions) run(ctx context.Context, env *Env, args []string) (err error) {
	if o.properties.list {
		return env.Print(o.properties.report())
	}
	if o.topic == "" {
		o.topic, args = args[0], args[1:]
	}
	o.files = args
	if err := o.validate(); err != nil {
		return err
	}
	p, err := o.open(ctx, env)
	if err != nil {
		return err
	}
	return p.run(ctx)
}

// validate refuses what contradicts itself, before anything is opened.
func (o *produceOptions) validate() error {
	checks := []func() error{func() error { return o.validateTopic("logdir produce") }, o.validateInput, o.validateIdentity, o.validateSending}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// validateTopic answers the habit of fetch, where a partition stands behind the topic.
func (o *produceOptions) validateTopic(command string) error {
	topic, parts, ok := strings.Cut(o.topic, ":")
	if !ok {
		return nil
	}
	return store.Errorf(store.Usage, "INVALID_TOPIC_EXCEPTION", "%q is no topic: produce takes the partition as a flag", o.topic).
		WithHint("%s %s -p %s", command, topic, parts)
}

func (o *produceOptions) validateInput() error {
	switch {
	case o.delimiter == "":
		return usagef("the delimiter between records is empty")
	case len(o.files) > 0 && len(o.lines) > 0:
		return usagef("FILE makes a record of each file, --lines one of each line: give one of them")
	case len(o.files) > 0 && o.keyDelimiter != "":
		return usagef("a FILE is one record: it has no --key-delimiter; give one --key for all")
	case o.input == inputJSON && len(o.files) > 0:
		return usagef("a FILE is one record: read JSON lines with --lines FILE")
	case o.input == inputJSON && (o.keyDelimiter != "" || o.tombstone):
		return usagef("--input json has keys and nulls of its own: no --key-delimiter and no --tombstone")
	case o.reader.given && (len(o.files) > 0 || o.input == inputJSON || o.keyDelimiter != ""):
		return usagef("--property says how a line is read: no FILE, no --input json and no --key-delimiter")
	case o.maxMessages < 0:
		return usagef("--max-messages %d is negative", o.maxMessages)
	}
	return nil
}

func (o *produceOptions) validateIdentity() error {
	exact := o.given("producer-id")
	switch {
	case !exact && (o.given("producer-epoch") || o.given("base-sequence")):
		return usagef("--producer-epoch and --base-sequence need --producer-id")
	case exact && (o.producerID < 0 || o.producerEpoch < 0 || o.baseSequence < 0):
		return usagef("producer id, epoch and sequence are not negative")
	case exact && (o.idempotent || o.transactionalID != ""):
		return usagef("--producer-id is an exact identity: no --idempotent and no --transactional-id beside it")
	case o.given("transactional-id") && o.transactionalID == "":
		return usagef("the transactional id is empty")
	case o.isIdempotent() && o.given("acks") && o.acks != "all" && o.acks != "-1":
		return usagef("an idempotent producer waits for all: no --acks %s", o.acks)
	}
	return nil
}

// isIdempotent tells whether the broker hands out the producer id.
func (o *produceOptions) isIdempotent() bool {
	return o.idempotent || o.transactionalID != "" || o.transaction != nil
}

func (o *produceOptions) validateSending() error {
	switch {
	case o.batchSize < 1:
		return usagef("--batch-size %d: want at least 1", o.batchSize)
	case o.retries < 0 || o.retryBackoff < 0 || o.requestTimeout < 0:
		return usagef("retries and times are not negative")
	case o.loseAcks < 0 || o.loseAcks > 0 && o.acks == "0":
		return usagef("--lose-acks %d: there are no acknowledgements to lose", o.loseAcks)
	case o.lingerMs < -1:
		return usagef("--linger-ms %d: want -1, 0 or more", o.lingerMs)
	case o.crashAfter < 0:
		return usagef("--crash-after %d is negative", o.crashAfter)
	case o.partition >= 0 && (o.given("partitioner") || o.given("unkeyed")):
		return usagef("--partition decides alone: no --partitioner and no --unkeyed")
	}
	return checkReport(o.report)
}

// acksWanted is --acks, or all for an idempotent producer.
func (o *produceOptions) acksWanted() (client.Acks, error) {
	if o.isIdempotent() {
		return client.AcksAll, nil
	}
	return client.ParseAcks(o.acks)
}

func milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// open finds the topic and puts the parts of a producer together.
func (o *produceOptions) open(ctx context.Context, env *Env) (*producer, error) {
	fsync, err := store.ParseFsync(o.fsync)
	if err != nil {
		return nil, err
	}
	c, err := env.openCluster(fsync)
	if err != nil {
		return nil, err
	}
	p, err := o.openIn(ctx, env, c, fsync)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return p, nil
}

// openIn is open in a cluster that is open already. The producer closes it.
func (o *produceOptions) openIn(ctx context.Context, env *Env, c *cluster.Cluster, fsync store.Fsync) (*producer, error) {
	p := &producer{o: o, env: env, cluster: c}
	return p, p.open(ctx, fsync)
}

// openCluster opens the data directory for appending.
func (e *Env) openCluster(fsync store.Fsync) (*cluster.Cluster, error) {
	return cluster.Open(e.FS, e.Global.DataDir, cluster.Options{
		LockTimeout: e.Global.LockTimeout, Now: e.Now, Log: e.Log, Fsync: fsync, Fail: e,
	})
}
