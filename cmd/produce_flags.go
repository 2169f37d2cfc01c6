package cmd

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/input"
	"logdir/store/client"
	"logdir/store/compress"
	"logdir/store/record"
)

// The values of --input.
const (
	inputLines = "lines"
	inputJSON  = "json"
)

// addFlags defines the flags of produce, in the groups of its help text.
func (o *produceOptions) addFlags(c *cobra.Command) {
	fs := c.Flags()
	o.given = func(name string) bool { return fs.Changed(name) }
	o.addInputFlags(c, fs)
	o.addPlacementFlags(c, fs)
	o.addSendingFlags(c, fs)
	o.addIdentityFlags(c, fs)
	o.addReportFlags(c, fs)
	o.addKafkaSpellings(fs)
}

func (o *produceOptions) addInputFlags(c *cobra.Command, fs *pflag.FlagSet) {
	o.input, o.delimiter = inputLines, "\n"
	fs.StringArrayVarP(&o.lines, "lines", "l", nil, "read records from the lines of this `file`, not of stdin")
	fs.Var(flagval.Enum(&o.input, inputLines, inputJSON), "input", "`form` of a line: lines, or json as fetch -J prints it")
	fs.VarP(flagval.NewEscaped(&o.keyDelimiter), "key-delimiter", "K", "split records into key and value at this `text`")
	fs.VarP(flagval.NewEscaped(&o.delimiter), "delimiter", "D", "the `text` between records")
	fs.StringVarP(&o.key, "key", "k", "", "one `key` for all records")
	fs.StringArrayVarP(&o.headers, "header", "H", nil, "add a header `name=value`; a name alone has a null value")
	fs.BoolVarP(&o.tombstone, "tombstone", "Z", false, "an empty value becomes null")
	fs.Int64VarP(&o.maxMessages, "max-messages", "c", 0, "stop after so many records: a `number`, 0 for all")
	fs.BoolVarP(&o.tee, "tee", "T", false, "copy the records to stdout")
	flagGroup(c, "input", "lines", "input", "key-delimiter", "delimiter", "key", "header", "tombstone", "max-messages", "tee")
}

func (o *produceOptions) addPlacementFlags(c *cobra.Command, fs *pflag.FlagSet) {
	fs.Int32VarP(&o.partition, "partition", "p", -1, "put all records on this partition: a `number`")
	fs.Var(flagval.Enum(&o.partitioner, names(client.Partitioners)...), "partitioner",
		"`hash` of the keys: crc32, md5 or murmur2 (default the topic's logdir.partitioner)")
	fs.Var(flagval.Enum(&o.unkeyed, client.Sticky.String(), client.RoundRobin.String()), "unkeyed",
		"`way` of records without a key: sticky or round-robin (default the topic's logdir.unkeyed)")
	flagGroup(c, "placement", "partition", "partitioner", "unkeyed")
}

func codecNames() []string {
	var out []string
	for c := compress.None; c <= compress.Zstd; c++ {
		out = append(out, c.String())
	}
	return out
}

func names(list []client.Partitioner) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.String()
	}
	return out
}

func (o *produceOptions) addSendingFlags(c *cobra.Command, fs *pflag.FlagSet) {
	o.acks, o.compression, o.fsync = client.AcksLeader.String(), compress.None.String(), "close"
	fs.IntVar(&o.batchSize, "batch-size", 16384, "a batch closes before it exceeds so many `bytes`; it always takes one record")
	fs.Int64Var(&o.lingerMs, "linger-ms", 1000, "close a batch that is so many `ms` old; -1 only by size and at the end")
	fs.Var(flagval.Enum(&o.acks, "0", "1", "all", "-1"), "acks", "wait for `whom`: 0 nobody, 1 the leader, all the in-sync replicas")
	fs.Int64Var(&o.requestTimeout, "request-timeout-ms", 1500, "how many `ms` acks all waits for the in-sync replicas")
	fs.BoolVar(&o.replicate, "replicate", false, "drive follower rounds until acknowledged")
	fs.VarP(flagval.Enum(&o.compression, codecNames()...), "compression", "z", "`codec`: none, gzip, snappy, lz4 or zstd")
	fs.Var(flagval.Enum(&o.fsync, "always", "close", "never"), "fsync", "`when` to sync: always (before each answer), close or never")
	fs.IntVar(&o.retries, "retries", 3, "send again so many `times` when the partition is full or an acknowledgement got lost")
	fs.Int64Var(&o.retryBackoff, "retry-backoff-ms", 100, "wait so many `ms` before each retry")
	fs.BoolVar(&o.noDLQ, "no-dlq", false, "fail where a batch would go to the dead letter queue")
	flagGroup(c, "batching and acknowledgement", "batch-size", "linger-ms", "acks", "request-timeout-ms", "replicate",
		"compression", "fsync", "retries", "retry-backoff-ms", "no-dlq")
}

func (o *produceOptions) addIdentityFlags(c *cobra.Command, fs *pflag.FlagSet) {
	fs.BoolVar(&o.idempotent, "idempotent", false, "take a new producer id: retries are recognised (forces acks all)")
	fs.StringVar(&o.transactionalID, "transactional-id", "", "keep the producer id of this `name`, one epoch up each time: fences the session before")
	fs.Int64Var(&o.producerID, "producer-id", record.NoProducerID, "write exactly this producer `id`")
	fs.Int32Var(&o.producerEpoch, "producer-epoch", 0, "with --producer-id: its `epoch`")
	fs.Int32Var(&o.baseSequence, "base-sequence", 0, "with --producer-id: the `sequence` of the first record on a partition")
	o.defineFailureFlags(fs)
	o.properties = properties{kind: "producer", known: producerPropertyFlags, flags: fs, help: "logdir produce -X list"}
	fs.VarP(&o.properties, "producer-property", "X", "set one of these by Kafka's name, `name=value`; -X list shows them all")
	flagGroup(c, "identity and failure", "idempotent", "transactional-id", "producer-id", "producer-epoch", "base-sequence",
		"leader-epoch", "lose-acks", "crash-after", "producer-property")
}

// defineFailureFlags defines what an experimenter lets go wrong.
func (o *produceOptions) defineFailureFlags(fs *pflag.FlagSet) {
	fs.Int32Var(&o.leaderEpoch, "leader-epoch", client.AnyEpoch, "the leader `epoch` this producer believes in; a stale one is fenced")
	fs.IntVar(&o.loseAcks, "lose-acks", 0, "pretend that so many acknowledgements got lost, the first ones; their batches are sent again: a `number`")
	fs.Int64Var(&o.crashAfter, "crash-after", 0, "die after so many records: a `number`; what is still open is lost")
}

// reportKinds explains --report.
const reportKinds = "what to print, a `kind` of report: partition, batch, record, none, or a record format with %"

func (o *produceOptions) addReportFlags(c *cobra.Command, fs *pflag.FlagSet) {
	fs.StringVar(&o.report, "report", reportPartition, reportKinds)
	flagGroup(c, "output", "report")
}

// addKafkaSpellings makes what a user of Kafka's own tools types by habit work too.
func (o *produceOptions) addKafkaSpellings(fs *pflag.FlagSet) {
	fs.VarP(flagval.NewOnce(&o.topic), "topic", "t", "as the argument TOPIC")
	o.console = input.NewConsole()
	o.reader = newTextProperties("reader", o.defineReader)
	fs.Var(o.reader, "property", "read as Kafka's console producer with this reader property")
	fs.Lookup("topic").Hidden, fs.Lookup("property").Hidden = true, true
}

// defineReader defines the properties of the line reader of Kafka's console producer.
func (o *produceOptions) defineReader(fs *pflag.FlagSet) {
	c := &o.console
	fs.BoolVar(&c.ParseKey, "parse.key", false, "")
	fs.BoolVar(&c.ParseHeaders, "parse.headers", false, "")
	fs.BoolVar(&c.IgnoreError, "ignore.error", false, "")
	fs.Var(newSeparator(&c.KeySeparator), "key.separator", "")
	fs.Var(newSeparator(&c.HeadersDelimiter), "headers.delimiter", "")
	fs.Var(newSeparator(&c.HeadersSeparator), "headers.separator", "")
	fs.Var(newSeparator(&c.HeadersKeySeparator), "headers.key.separator", "")
	fs.StringVar(&c.NullMarker, "null.marker", "", "")
	for _, of := range []string{"key", "value"} {
		fs.Var(plainBytes{}, of+".serializer", "")
	}
}
