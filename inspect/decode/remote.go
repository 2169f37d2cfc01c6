package decode

import (
	"cmp"
	"slices"
	"strconv"

	"logdir/store/message"
)

// ParseRemote reads the value of a record of __remote_log_metadata.
func ParseRemote(value []byte) (Frame, error) { return parseFrame(remoteTypes, value) }

var (
	topicIDPartition = message.Part("TopicIdPartitionEntry",
		message.One("name", message.String),
		message.One("id", message.UUID),
		message.One("partition", message.Int32),
	)
	remoteSegmentID = message.Part("RemoteLogSegmentIdEntry",
		message.Sub("topicIdPartition", topicIDPartition),
		message.One("id", message.UUID),
	)
	segmentLeaderEpoch = message.Part("SegmentLeaderEpochEntry",
		message.One("leaderEpoch", message.Int32),
		message.One("offset", message.Int64),
	)
	// segmentFields follow the id of a segment.
	segmentFields = []message.Field{
		message.One("startOffset", message.Int64),
		message.One("endOffset", message.Int64),
		message.One("brokerId", message.Int32),
		message.One("maxTimestampMs", message.Int64),
		message.One("eventTimestampMs", message.Int64),
		message.Structs("segmentLeaderEpochs", segmentLeaderEpoch),
		message.One("segmentSizeInBytes", message.Int32),
		message.One("customMetadata", message.Bytes).ElseNull(),
		message.One("remoteLogSegmentState", message.Int8),
		message.One("txnIndexEmpty", message.Bool).AtTag(0),
	}
)

var remoteTypes = []frameType{
	{0, message.Flexible("RemoteLogSegmentMetadataRecord", 0,
		slices.Concat([]message.Field{message.Sub("remoteLogSegmentId", remoteSegmentID)}, segmentFields)...,
	)},
	{1, message.Flexible("RemoteLogSegmentMetadataUpdateRecord", 0,
		message.Sub("remoteLogSegmentId", remoteSegmentID),
		message.One("brokerId", message.Int32),
		message.One("eventTimestampMs", message.Int64),
		message.One("customMetadata", message.Bytes).ElseNull(),
		message.One("remoteLogSegmentState", message.Int8),
	)},
	{2, message.Flexible("RemotePartitionDeleteMetadataRecord", 0,
		message.Sub("topicIdPartition", topicIDPartition),
		message.One("brokerId", message.Int32),
		message.One("eventTimestampMs", message.Int64),
		message.One("remotePartitionDeleteState", message.Int8),
	)},
	{3, message.Flexible("RemoteLogSegmentMetadataSnapshotRecord", 0,
		slices.Concat([]message.Field{message.One("segmentId", message.UUID)}, segmentFields)...,
	)},
}

// The states of a segment and of the deletion of a partition, by number.
var (
	segmentStates = []string{"COPY_SEGMENT_STARTED", "COPY_SEGMENT_FINISHED", "DELETE_SEGMENT_STARTED", "DELETE_SEGMENT_FINISHED"}
	deleteStates  = []string{"DELETE_PARTITION_MARKED", "DELETE_PARTITION_STARTED", "DELETE_PARTITION_FINISHED"}
)

// remoteText appends what Java's toString makes of the value: Kafka's tool has no JSON here.
func remoteText(dst []byte, f *Frame) ([]byte, error) {
	p := javaText{dst: dst, of: f.Object}
	switch f.Type {
	case 0:
		return p.segment()
	case 1:
		return p.update()
	case 2:
		return p.deletion()
	}
	return dst, sentencef("RemoteLogMetadataTransform for apikey: %d does not exist.", f.Type)
}

// javaText writes the members of one object in the form of Java's toString.
type javaText struct {
	dst []byte
	of  *message.Object
}

func (p *javaText) segment() ([]byte, error) {
	p.id("RemoteLogSegmentMetadata{remoteLogSegmentId=")
	p.number(", startOffset=", "startOffset")
	p.number(", endOffset=", "endOffset")
	p.number(", brokerId=", "brokerId")
	p.number(", maxTimestampMs=", "maxTimestampMs")
	p.number(", eventTimestampMs=", "eventTimestampMs")
	p.epochs(", segmentLeaderEpochs=")
	p.number(", segmentSizeInBytes=", "segmentSizeInBytes")
	p.custom(", customMetadata=")
	p.state(", state=", "remoteLogSegmentState", segmentStates)
	empty, _ := p.of.Get("txnIndexEmpty")
	p.dst = append(p.dst, ", txnIdxEmpty="...)
	return append(strconv.AppendBool(p.dst, empty == true), '}'), p.check()
}

func (p *javaText) update() ([]byte, error) {
	p.id("RemoteLogSegmentMetadataUpdate{remoteLogSegmentId=")
	p.custom(", customMetadata=")
	p.state(", state=", "remoteLogSegmentState", segmentStates)
	p.number(", eventTimestampMs=", "eventTimestampMs")
	p.number(", brokerId=", "brokerId")
	return append(p.dst, '}'), nil
}

func (p *javaText) deletion() ([]byte, error) {
	p.partition("RemotePartitionDeleteMetadata{topicPartition=", p.of)
	p.state(", state=", "remotePartitionDeleteState", deleteStates)
	p.number(", eventTimestampMs=", "eventTimestampMs")
	p.number(", brokerId=", "brokerId")
	return append(p.dst, '}'), nil
}

func (p *javaText) number(label, name string) {
	p.dst = strconv.AppendInt(append(p.dst, label...), p.of.Int(name, 0), 10)
}

// id writes a RemoteLogSegmentId.
func (p *javaText) id(label string) {
	v, _ := p.of.Get("remoteLogSegmentId")
	id, _ := v.(*message.Object)
	p.partition(label+"RemoteLogSegmentId{topicIdPartition=", id)
	p.dst = append(append(p.dst, ", id="...), id.UUID("id").String()...)
	p.dst = append(p.dst, '}')
}

// partition writes a TopicIdPartition, id:name-number.
func (p *javaText) partition(label string, in *message.Object) {
	v, _ := in.Get("topicIdPartition")
	tp, _ := v.(*message.Object)
	p.dst = append(append(p.dst, label...), tp.UUID("id").String()...)
	p.dst = append(append(p.dst, ':'), tp.Str("name")...)
	p.dst = strconv.AppendInt(append(p.dst, '-'), tp.Int("partition", 0), 10)
}

// epochs writes a map by epoch, in which the last of two entries of one epoch stays.
func (p *javaText) epochs(label string) {
	list := p.of.Objects("segmentLeaderEpochs")
	slices.SortStableFunc(list, func(a, b *message.Object) int {
		return cmp.Compare(a.Int("leaderEpoch", 0), b.Int("leaderEpoch", 0))
	})
	p.dst = append(append(p.dst, label...), '{')
	first := true
	for i, e := range list {
		epoch := e.Int("leaderEpoch", 0)
		if i+1 < len(list) && list[i+1].Int("leaderEpoch", 0) == epoch {
			continue
		}
		if !first {
			p.dst = append(p.dst, ", "...)
		}
		first = false
		p.dst = strconv.AppendInt(p.dst, epoch, 10)
		p.dst = strconv.AppendInt(append(p.dst, '='), e.Int("offset", 0), 10)
	}
	p.dst = append(p.dst, '}')
}

func (p *javaText) custom(label string) {
	p.dst = append(p.dst, label...)
	if v, _ := p.of.Get("customMetadata"); v == nil {
		p.dst = append(p.dst, "Optional.empty"...)
		return
	}
	p.dst = append(p.dst, "Optional[CustomMetadata{"...)
	p.dst = strconv.AppendInt(p.dst, int64(len(p.of.Bytes("customMetadata"))), 10)
	p.dst = append(p.dst, " bytes}]"...)
}

func (p *javaText) state(label, name string, states []string) {
	state := p.of.Int(name, -1)
	p.dst = append(p.dst, label...)
	if state < 0 || state >= int64(len(states)) {
		p.dst = append(p.dst, "null"...)
		return
	}
	p.dst = append(p.dst, states[state]...)
}

// check makes the checks of Java's constructor.
func (p *javaText) check() error {
	start, end := p.of.Int("startOffset", 0), p.of.Int("endOffset", 0)
	switch {
	case start < 0:
		return sentencef("Unexpected start offset = %d. StartOffset for a remote segment cannot be negative", start)
	case end < start:
		return sentencef("Unexpected end offset = %d. EndOffset for a remote segment cannot be less than startOffset = %d", end, start)
	case len(p.of.List("segmentLeaderEpochs")) == 0:
		return sentencef("segmentLeaderEpochs can not be null or empty")
	}
	return nil
}
