package cmd

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
	"logdir/store/group"
)

// printOffsets prints a row for each partition in which a group has committed, or that one of
// its members reads. There may be very many.
func (g *knownGroups) printOffsets(wanted []*group.Group) error {
	rows := g.env.Stream([]string{
		"GROUP", "TOPIC", "PARTITION", "POSITION", "CURRENT-OFFSET", "HIGH-WATERMARK", "LAG", "CONSUMER-ID",
	})
	marks, positions := marks{view: g.view}, positions{view: g.view}
	names := topicNames{view: g.view}
	var row []any
	for _, of := range wanted {
		owners := ownersOf(of, &names)
		for _, tp := range partitionsWith(of, owners) {
			row = appendOffsetRow(row[:0], of, tp, owners[tp], &marks)
			row[3] = positions.of(of.ID, owners[tp], tp)
			if err := rows.Row(row...); err != nil {
				return err
			}
		}
	}
	return rows.Close()
}

// partitionsWith are those in which the group has committed and those that have an owner.
func partitionsWith(g *group.Group, owners map[store.TopicPartition]string) []store.TopicPartition {
	all := slices.AppendSeq(g.Committed(), maps.Keys(owners))
	slices.SortFunc(all, store.TopicPartition.Compare)
	return slices.Compact(all)
}

// ownersOf tells which member reads which partition.
func ownersOf(g *group.Group, names *topicNames) map[store.TopicPartition]string {
	owners := map[store.TopicPartition]string{}
	for _, m := range g.Members() {
		for _, tp := range names.named(m.Assignment) {
			owners[tp] = m.ID
		}
	}
	return owners
}

func appendOffsetRow(row []any, g *group.Group, tp store.TopicPartition, owner string, marks *marks) []any {
	row = append(row, g.ID, tp.Topic, tp.Partition, nil, nil, nil, nil, orNil(owner))
	log, found := marks.of(tp)
	if found {
		row[5] = render.Known(log.HighWatermark)
	}
	if c, ok := g.Offset(tp); ok {
		row[4] = c.Offset
		if found {
			row[6] = readableEnd(log) - c.Offset
		}
	}
	return row
}

// readableEnd is where lag is counted from: the high watermark, or the log end where that is not
// known.
func readableEnd(log cluster.Offsets) int64 {
	if log.HighWatermark < 0 {
		return log.LogEnd
	}
	return log.HighWatermark
}

// marks finds the offsets of leaders, each once.
type marks struct {
	view    *cluster.View
	leaders map[store.TopicPartition]store.PartitionRef
	known   map[store.TopicPartition]cluster.Offsets
}

// of finds the marks of a partition; ok is false if it is not here, or cannot be read.
func (m *marks) of(tp store.TopicPartition) (o cluster.Offsets, ok bool) {
	if m.leaders == nil {
		m.list()
	}
	if o, ok := m.known[tp]; ok {
		return o, true
	}
	ref, here := m.leaders[tp]
	if !here {
		return o, false
	}
	o, err := m.view.Offsets(ref)
	if err != nil {
		return o, false
	}
	m.known[tp] = o
	return o, true
}

func (m *marks) list() {
	m.leaders = map[store.TopicPartition]store.PartitionRef{}
	m.known = map[store.TopicPartition]cluster.Offsets{}
	refs, err := m.view.Resolve(nil, false)
	if err != nil {
		return // then no partition is known, and the report has no marks
	}
	for _, ref := range refs {
		m.leaders[ref.TopicPartition] = ref
	}
}

// topicNames turns topic ids into names, by the partition.metadata of the directory.
type topicNames struct {
	view *cluster.View
	byID map[string]string
}

// named returns partitions with the names of topics where ids stood. An id that no folder tells
// stays.
func (n *topicNames) named(list []store.TopicPartition) []store.TopicPartition {
	out := slices.Clone(list)
	for i := range out {
		if _, err := checkpoint.ParseUUID(out[i].Topic); err != nil {
			continue
		}
		if name, ok := n.find(out[i].Topic); ok {
			out[i].Topic = name
		}
	}
	slices.SortFunc(out, store.TopicPartition.Compare)
	return out
}

func (n *topicNames) find(id string) (string, bool) {
	if n.byID == nil {
		n.list()
	}
	name, ok := n.byID[id]
	return name, ok
}

func (n *topicNames) list() {
	n.byID = map[string]string{}
	refs, err := n.view.AllPartitions()
	if err != nil {
		return // ids stay ids
	}
	for _, ref := range refs {
		m, err := checkpoint.ReadPartitionMetadata(n.view.FS, filepath.Join(ref.Dir, checkpoint.PartitionMetadataFile))
		if err == nil {
			n.byID[m.TopicID.String()] = ref.Topic
		}
	}
}

// assignmentCell shows partitions by topic, "orders:0,1;payments:0", in JSON one by one.
func assignmentCell(list []store.TopicPartition) any {
	var text strings.Builder
	each := make([]string, len(list))
	for i, tp := range list {
		each[i] = tp.String()
		switch {
		case i > 0 && list[i-1].Topic == tp.Topic:
			text.WriteByte(',')
		case i > 0:
			text.WriteString(";" + tp.Topic + ":")
		default:
			text.WriteString(tp.Topic + ":")
		}
		text.WriteString(strconv.Itoa(int(tp.Partition)))
	}
	return render.Both{Text: text.String(), JSON: each}
}
