package cmd

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"logdir/store"
)

// spelling is a flag of Kafka's tools that a user of those types out of habit. It is hidden
// in help, and listed in logdir-kafka(7) where it means something here.
type spelling struct {
	kafka string
	flag  string // of ours, that it sets; "" if nothing is to be set
	// answer is said instead: what it asks for is done in another way, or not at all.
	answer string
	short  string // its short form, if it has one
	alone  bool   // it takes no value
	value  string // alone: what the flag is set to
}

// same is another name of a flag.
func same(kafka, flag string) spelling { return spelling{kafka: kafka, flag: flag} }

// means is a switch that sets a flag to a value.
func means(kafka, flag, value string) spelling {
	return spelling{kafka: kafka, flag: flag, alone: true, value: value}
}

// usual is a switch for what a command does anyway.
func usual(kafka string) spelling { return spelling{kafka: kafka, alone: true} }

// told is a flag that is answered with a sentence, toldAlone a switch.
func told(kafka, answer string) spelling { return spelling{kafka: kafka, answer: answer} }

func toldAlone(kafka, answer string) spelling {
	return spelling{kafka: kafka, answer: answer, alone: true}
}

// spellings are those of each command, by its path.
var spellings = map[string][]spelling{
	"produce":     producerSpellings,
	"txn produce": producerSpellings,
	"fetch": {
		usual("from-beginning"),
		{kafka: "exit", short: "e", alone: true},
		same("formatter-property", "property"), same("command-property", "consumer-property"),
		means("skip-message-on-error", "on-damage", damageSkip),
		told("include", oneByName), told("whitelist", oneByName),
		told("formatter", "a record is printed by --format, --property or --json; Kafka's own topics are decoded by logdir dump-segment --decode"),
		told("formatter-config", "formatter properties are given one by one: --property NAME=VALUE"),
	},
	"offsets":      {same("time", "at")},
	"topic create": {same("add-config", "config")},
	"topic alter": {
		same("add-config", "config"),
		told("replication-factor", "a topic has its replicas from its creation: logdir topic create -r N"),
		told("replica-assignment", "a topic has its replicas from its creation: logdir topic create --replica-assignment"),
	},
	"topic list":     {{kafka: "topic", short: "t", answer: "topic list lists all; for one: logdir topic describe TOPIC"}},
	"topic describe": {toldAlone("topics-with-overrides", "what a topic has of its own is shown by --configs: the SOURCE is topic")},
	"segments": {
		usual("describe"), told("topic-list", "topics are arguments: logdir segments TOPIC..."),
	},
	"group list":     {usual("state"), usual("type")},
	"group describe": {usual("all-groups"), told("timeout", noWaiting)},
	"group delete": {
		toldAlone("all-groups", "groups are deleted one by one: logdir group list shows them"),
		toldAlone("all-topics", "all of a group's offsets go with it: logdir group delete GROUP"),
	},
	"group reset-offsets": {
		told("from-file", "one place at a time: logdir group reset-offsets GROUP -t TOPIC:P --to OFFSET"),
		toldAlone("export", "rows for other programs are printed by --json or --output tsv"),
		told("timeout", noWaiting),
	},
	"delete-records": {
		same("offset", "before"),
		told("offset-json-file", "one partition at a time: logdir delete-records TOPIC:P --before OFFSET"),
	},
	"promote": {
		same("all-topic-partitions", "all"),
		told("election-type", "you say who leads: --to BROKER; --unclean allows one that is not in sync"),
		told("partition", "the partition stands behind the topic: logdir promote TOPIC:P --to BROKER"),
		told("path-to-json-file", "one partition at a time: logdir promote TOPIC:P --to BROKER"),
	},
	"simulate": {
		told("num-records", "--messages says how many records each of the --producers makes"),
		told("throughput", "a simulation runs as fast as it can"),
		told("payload-file", "a simulation makes its records itself: --record-size, --keys, --seed"),
		told("producer-props", "the flags of a simulation are its only settings: logdir simulate -h"),
		usual("print-metrics"),
	},
	"export": {same("command-config", "client-config"), same("producer.config", "client-config")},
	"import": {same("command-config", "client-config"), same("consumer.config", "client-config")},
}

var producerSpellings = []spelling{
	same("request-required-acks", "acks"), same("message-send-max-retries", "retries"),
	same("max-partition-memory-bytes", "batch-size"), same("compression-codec", "compression"),
	same("compression-type", "compression"), same("timeout", "linger-ms"),
	same("reader-property", "property"),
	means("sync", "batch-size", "1"),
	told("line-reader", "records are read by lines, with --property or --key-delimiter; or --input json"),
	told("reader-config", "reader properties are given one by one: --property NAME=VALUE"),
	told("max-block-ms", noWaiting), told("max-memory-bytes", noWaiting),
	told("socket-buffer-size", noWaiting), told("metadata-expiry-ms", noWaiting),
}

// globalSpellings are those of every command that has no such flag of its own.
var globalSpellings = []spelling{
	told("bootstrap-server", noServer), told("bootstrap-controller", noServer),
	told("broker-list", noServer), told("zookeeper", noServer),
	told("command-config", noClient), told("command-property", noClient),
	told("producer.config", noClient), told("consumer.config", noClient),
	means("execute", "yes", "true"),
}

const (
	noServer  = "logdir has no server; it works on files; use --data-dir DIR"
	noClient  = "logdir has no client to be configured; its settings are flags: logdir config --all"
	noWaiting = "logdir sends nothing over a network and waits for no server; only for locks: --lock-timeout"
	oneByName = "one topic at a time, by its name: no patterns"
)

// spell gives a command the spellings of Kafka's tools.
func spell(c *cobra.Command) {
	path := strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
	addSpellings(c.Flags(), spellings[path])
	if strings.Contains(path, " ") { // topic create --create says it twice
		addSpellings(c.Flags(), []spelling{usual(c.Name())})
	}
}

func addSpellings(fs *pflag.FlagSet, list []spelling) {
	for _, s := range list {
		if fs.Lookup(s.kafka) == nil {
			fs.AddFlag(s.in(fs))
		}
	}
}

// in is the spelling as a flag, beside those that it stands for.
func (s spelling) in(fs *pflag.FlagSet) *pflag.Flag {
	f := &pflag.Flag{Name: s.kafka, Shorthand: s.short, Hidden: true, Value: &spelled{spelling: s, fs: fs}}
	switch {
	case s.alone:
		f.NoOptDefVal = "true"
	case s.flag != "":
		f.NoOptDefVal = fs.Lookup(s.flag).NoOptDefVal
	}
	return f
}

// spelled hands on what it is given, so that the flag it stands for counts as given too.
type spelled struct {
	spelling
	fs *pflag.FlagSet
}

func (s *spelled) String() string { return "" }
func (s *spelled) Type() string   { return "string" }

// Set implements pflag.Value.
func (s *spelled) Set(value string) error {
	switch {
	case s.answer != "":
		return store.Errorf(store.Usage, "INVALID_REQUEST", "%s", s.answer)
	case s.alone:
		on, err := strconv.ParseBool(value)
		if err != nil || !on || s.flag == "" {
			return err
		}
		value = s.value
	}
	return s.fs.Set(s.flag, value)
}

// argumentFlag makes --topic and its kin, as Kafka's tools have them, hidden spellings of a
// command's first argument, and returns how its arguments then read. A command that has
// such a flag of its own keeps it.
func argumentFlag(c *cobra.Command) func(args []string) []string {
	name, shorthand := argumentName(c)
	fs := c.Flags()
	if name == "" || fs.Lookup(name) != nil || shorthand != "" && fs.ShorthandLookup(shorthand) != nil {
		return func(args []string) []string { return args }
	}
	var given []string
	fs.StringArrayVarP(&given, name, shorthand, nil, "as the first argument")
	fs.Lookup(name).Hidden = true
	return func(args []string) []string { return append(given[:len(given):len(given)], args...) }
}

// argumentName is what Kafka's tools call the first argument of a command.
func argumentName(c *cobra.Command) (name, shorthand string) {
	_, first, _ := strings.Cut(c.Use, " ")
	switch first = strings.TrimPrefix(first, "["); {
	case strings.HasPrefix(first, "TOPIC"), strings.HasPrefix(first, "TARGET"):
		return "topic", "t"
	case strings.HasPrefix(first, "GROUP"):
		return "group", "g"
	case strings.HasPrefix(first, "ID") && c.HasParent() && c.Parent().Name() == "txn":
		return "transactional-id", ""
	}
	return "", ""
}

// flagForWord answers --create and its kin, with which Kafka's tools are told what to do: it
// is a word here.
func flagForWord(c *cobra.Command, args []string) *usageError {
	for _, arg := range args {
		name, isFlag := strings.CutPrefix(arg, "--")
		if ours, ok := wordsForFlags[c.Name()+" "+arg]; ok {
			name = ours
		} else if !isFlag || !slices.Contains(subcommandNames(c), name) || hasFlag(c, name) {
			continue
		}
		return &usageError{
			cmd: c, msg: "what to do is a word, not a flag: " + arg,
			suggestion: c.CommandPath() + " " + name,
		}
	}
	return nil
}

// wordsForFlags are those whose name is not that of the command.
var wordsForFlags = map[string]string{"group --delete-offsets": "delete --offsets"}

func hasFlag(c *cobra.Command, name string) bool {
	return c.Flags().Lookup(name) != nil || c.Root().PersistentFlags().Lookup(name) != nil
}

// kafkaTools are Kafka's command line tools, without the prefix kafka- and the suffix .sh, by
// what does their work here.
var kafkaTools = map[string]string{
	"topics": "topic", "configs": "topic alter",
	"console-producer": "produce", "verifiable-producer": "produce",
	"console-consumer": "fetch", "verifiable-consumer": "fetch", "simple-consumer-shell": "fetch",
	"consumer-groups": "group", "groups": "group", "share-groups": "group",
	"get-offsets": "offsets",
	"dump-log":    "dump-segment", "metadata-shell": "dump-segment --cluster-metadata-decoder",
	"log-dirs": "segments --sizes", "replica-verification": "diff",
	"leader-election": "promote", "preferred-replica-election": "promote", "delete-records": "delete-records",
	"transactions": "txns", "storage": "init", "cluster": "info", "broker-api-versions": "info",
	"producer-perf-test": "simulate", "consumer-perf-test": "simulate", "e2e-latency": "simulate",
	"server-start": "broker start", "server-stop": "broker stop", "mirror-maker": "export",
}

// kafkaTool is the command that does what one of Kafka's tools does.
func kafkaTool(word string) (ours string, ok bool) {
	word = strings.TrimSuffix(strings.TrimSuffix(word, ".sh"), ".bat")
	ours, ok = kafkaTools[strings.TrimPrefix(word, "kafka-")]
	return ours, ok
}
