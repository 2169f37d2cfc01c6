package decode

import (
	"maps"
	"slices"
	"strconv"

	"logdir/store/message"
)

// The states of a segment and of the deletion of a partition, by number.
var (
	segmentStates = []string{"COPY_SEGMENT_STARTED", "COPY_SEGMENT_FINISHED", "DELETE_SEGMENT_STARTED", "DELETE_SEGMENT_FINISHED"}
	deleteStates  = []string{"DELETE_PARTITION_MARKED", "DELETE_PARTITION_STARTED", "DELETE_PARTITION_FINISHED"}
)

// remoteText appends what Java's toString makes of the value: Kafka's tool has no JSON here. What
// Java's constructors refuse is refused in their words.
func remoteText(dst []byte, f *Frame) ([]byte, error) {
	p := javaText{dst: dst, of: f.Object}
	switch f.Type {
	case 0:
		p.segment()
	case 1:
		p.update()
	case 2:
		p.deletion()
	case 3:
		p.snapshot()
	}
	return append(p.dst, '}'), p.err
}

// javaText writes the members of one object in the form of Java's toString. The first error
// stays.
type javaText struct {
	dst []byte
	of  *message.Object
	err error
}

func (p *javaText) segment() {
	p.checkOffsets()
	p.id("RemoteLogSegmentMetadata{remoteLogSegmentId=")
	p.number(", startOffset=", "startOffset")
	p.number(", endOffset=", "endOffset")
	p.number(", brokerId=", "brokerId")
	p.number(", maxTimestampMs=", "maxTimestampMs")
	p.number(", eventTimestampMs=", "eventTimestampMs")
	p.content()
}

// snapshot writes a segment whose partition stands elsewhere.
func (p *javaText) snapshot() {
	p.text("RemoteLogSegmentMetadataSnapshot{segmentId=", p.of.UUID("segmentId").String())
	p.number(", startOffset=", "startOffset")
	p.number(", endOffset=", "endOffset")
	p.number(", maxTimestampMs=", "maxTimestampMs")
	p.content()
}

// content writes what is alike in both.
func (p *javaText) content() {
	state := p.state("remoteLogSegmentState", segmentStates, "state can not be null")
	p.epochs(", segmentLeaderEpochs=")
	p.number(", segmentSizeInBytes=", "segmentSizeInBytes")
	p.custom(", customMetadata=")
	p.text(", state=", state)
	empty, _ := p.of.Get("txnIndexEmpty")
	p.dst = strconv.AppendBool(append(p.dst, ", txnIdxEmpty="...), empty == true)
}

func (p *javaText) update() {
	p.id("RemoteLogSegmentMetadataUpdate{remoteLogSegmentId=")
	p.custom(", customMetadata=")
	p.text(", state=", p.state("remoteLogSegmentState", segmentStates, "state can not be null"))
	p.number(", eventTimestampMs=", "eventTimestampMs")
	p.number(", brokerId=", "brokerId")
}

func (p *javaText) deletion() {
	p.partition("RemotePartitionDeleteMetadata{topicPartition=", p.of)
	p.text(", state=", p.state("remotePartitionDeleteState", deleteStates, "null"))
	p.number(", eventTimestampMs=", "eventTimestampMs")
	p.number(", brokerId=", "brokerId")
}

func (p *javaText) text(label, value string) { p.dst = append(append(p.dst, label...), value...) }

func (p *javaText) number(label, name string) {
	p.dst = strconv.AppendInt(append(p.dst, label...), p.of.Int(name, 0), 10)
}

// id writes a RemoteLogSegmentId.
func (p *javaText) id(label string) {
	id := sub(p.of, "remoteLogSegmentId")
	p.partition(label+"RemoteLogSegmentId{topicIdPartition=", id)
	p.text(", id=", id.UUID("id").String()+"}")
}

// partition writes a TopicIdPartition, id:name-number.
func (p *javaText) partition(label string, in *message.Object) {
	tp := sub(in, "topicIdPartition")
	p.text(label, tp.UUID("id").String())
	p.dst = message.AppendUTF8(append(p.dst, ':'), []byte(tp.Str("name")))
	p.dst = strconv.AppendInt(append(p.dst, '-'), tp.Int("partition", 0), 10)
}

// sub is a member that is a struct.
func sub(o *message.Object, name string) *message.Object {
	v, _ := o.Get(name)
	part, _ := v.(*message.Object)
	return part
}

// epochs writes a map by epoch; of two entries of one epoch the last one counts.
func (p *javaText) epochs(label string) {
	starts := map[int64]int64{}
	for _, e := range p.of.Objects("segmentLeaderEpochs") {
		starts[e.Int("leaderEpoch", 0)] = e.Int("offset", 0)
	}
	if len(starts) == 0 {
		p.fail(sentence("segmentLeaderEpochs can not be null or empty"))
	}
	p.text(label, "{")
	for i, epoch := range slices.Sorted(maps.Keys(starts)) {
		if i > 0 {
			p.dst = append(p.dst, ", "...)
		}
		p.dst = strconv.AppendInt(p.dst, epoch, 10)
		p.dst = strconv.AppendInt(append(p.dst, '='), starts[epoch], 10)
	}
	p.dst = append(p.dst, '}')
}

func (p *javaText) custom(label string) {
	if v, _ := p.of.Get("customMetadata"); v == nil {
		p.text(label, "Optional.empty")
		return
	}
	p.text(label, "Optional[CustomMetadata{")
	p.dst = strconv.AppendInt(p.dst, int64(len(p.of.Bytes("customMetadata"))), 10)
	p.dst = append(p.dst, " bytes}]"...)
}

// state names a state; one that is not known fails with the words unknown.
func (p *javaText) state(name string, states []string, unknown string) string {
	state := p.of.Int(name, -1)
	if state < 0 || state >= int64(len(states)) {
		p.fail(sentence(unknown))
		return ""
	}
	return states[state]
}

func (p *javaText) checkOffsets() {
	start, end := p.of.Int("startOffset", 0), p.of.Int("endOffset", 0)
	switch {
	case start < 0:
		p.fail(sentencef("Unexpected start offset = %d. StartOffset for a remote segment cannot be negative", start))
	case end < start:
		p.fail(sentencef("Unexpected end offset = %d. EndOffset for a remote segment cannot be less than startOffset = %d", end, start))
	}
}

func (p *javaText) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}
