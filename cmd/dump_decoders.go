package cmd

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"logdir/inspect"
	"logdir/inspect/decode"
	"logdir/store/segment"
)

// dumpDecoders are the flags that choose a decoder of an internal topic.
type dumpDecoders struct {
	named  [decode.ShareGroupState + 1]bool // by topic
	byName bool
}

func (d *dumpDecoders) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&d.byName, "decode", false, "decode records as the directory of the file calls for (on with --json)")
	f.BoolVar(&d.named[decode.ConsumerOffsets], "offsets-decoder", false, "decode records as those of __consumer_offsets")
	f.BoolVar(&d.named[decode.TransactionState], "transaction-log-decoder", false, "decode records as those of __transaction_state")
	f.BoolVar(&d.named[decode.ClusterMetadata], "cluster-metadata-decoder", false, "decode records as those of __cluster_metadata")
	f.BoolVar(&d.named[decode.RemoteLogMetadata], "remote-log-metadata-decoder", false, "decode records as those of __remote_log_metadata")
	f.BoolVar(&d.named[decode.ShareGroupState], "share-group-state-decoder", false, "decode records as those of __share_group_state")
	flagGroup(c, "decoders", "decode", "offsets-decoder", "transaction-log-decoder", "cluster-metadata-decoder",
		"remote-log-metadata-decoder", "share-group-state-decoder")
}

// any says whether a flag asks for a decoder.
func (d *dumpDecoders) any() bool { return d.byName || d.topic() != decode.None }

// topic is the one whose decoder a flag names. Kafka's order decides between several.
func (d *dumpDecoders) topic() decode.Topic {
	for topic, named := range d.named {
		if named {
			return decode.Topic(topic)
		}
	}
	return decode.None
}

// choose makes the decoder of a file, nil where records are text.
func (d *dumpDecoders) choose(f *inspect.DumpFile) inspect.Decoder {
	if topic := d.topic(); topic != decode.None {
		return topic.Decoder()
	}
	return topicOfFile(f).Decoder()
}

// topicOfFile tells the internal topic from the directory. Snapshots of the metadata log need
// not stand beside it.
func topicOfFile(f *inspect.DumpFile) decode.Topic {
	if f.Kind == inspect.SnapshotCheckpointFile {
		return decode.ClusterMetadata
	}
	dir, err := filepath.Abs(filepath.Dir(f.Path))
	if err != nil {
		return decode.None
	}
	p, ok := segment.ParsePartitionDir(filepath.Base(dir))
	if !ok {
		return decode.None
	}
	return decode.TopicOf(p.Topic)
}
