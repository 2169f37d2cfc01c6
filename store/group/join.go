package group

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"logdir/store"
)

// Join is the wish of a member to read topics with others.
type Join struct {
	Group, Member string
	Topics        []string
	// Assignor may be empty: then it is the group's, or RoundRobin for the first member.
	Assignor Assignor
	// SessionTimeout is for how many ms the coordinator need not hear of the member.
	SessionTimeout int32
	Reset          Reset
}

// DefaultSessionTimeout is Kafka's session.timeout.ms.
const DefaultSessionTimeout = 45000

// rebalanceTimeout is Kafka's default of max.poll.interval.ms, which clients send.
const rebalanceTimeout = 300000

// clientHost is where members live.
const clientHost = "/127.0.0.1"

// Join makes somebody a member and begins a new generation. A member that joins again, with
// nothing changed, gets the assignment that it has; but like a consumer that was started
// again it knows no positions, and begins at the committed offsets.
func (c *Coordinator) Join(ctx context.Context, j Join) (v *View, err error) {
	if err := checkName("member", j.Member); err != nil {
		return nil, err
	}
	j.Topics = slices.Compact(slices.Sorted(slices.Values(j.Topics)))
	err = c.change(ctx, j.Group, func(w *change) error {
		for _, topic := range j.Topics {
			if _, err := c.cluster.Meta().Topic(topic); err != nil {
				return err
			}
		}
		if err := w.join(&j); err != nil {
			return err
		}
		v = &View{Version: viewVersion, Group: j.Group, Member: j.Member, Reset: j.Reset}
		return w.takeOver(v)
	})
	return v, err
}

func (w *change) join(j *Join) error {
	if err := w.agree(j); err != nil {
		return err
	}
	members := w.subscribers()
	me := MemberMetadata{
		MemberID: j.Member, ClientID: clientID, ClientHost: clientHost,
		RebalanceTimeoutMS: rebalanceTimeout, SessionTimeoutMS: j.SessionTimeout,
	}
	at := slices.IndexFunc(members, func(s Subscriber) bool { return s.Member == j.Member })
	if at < 0 {
		members = append(members, Subscriber{Member: j.Member, Topics: j.Topics, Generation: noGeneration})
		return w.rebalance("join", j.Member, j.Assignor, members, me)
	}
	before := w.g.classicMember(j.Member)
	changed := !slices.Equal(members[at].Topics, j.Topics) || w.g.Classic.Protocol != string(j.Assignor) ||
		before.SessionTimeoutMS != j.SessionTimeout
	if members[at].Topics = j.Topics; !changed && !w.outgrown(members) {
		return nil
	}
	return w.rebalance("join", j.Member, j.Assignor, members, me)
}

const (
	clientID           = "logdir"
	noGeneration int32 = -1
)

// agree finds the assignor: all members must name the same.
func (w *change) agree(j *Join) error {
	if w.g != nil && w.g.Kind != Classic {
		return store.Errorf(store.Refused, "INCONSISTENT_GROUP_PROTOCOL", "group %s is one of kind %s", w.id, w.g.Kind)
	}
	theirs := Assignor("")
	for _, m := range w.classicMembers() {
		if m.MemberID != j.Member || j.Assignor == "" {
			theirs = Assignor(w.g.Classic.Protocol)
		}
	}
	switch {
	case theirs == "" && j.Assignor == "":
		j.Assignor = RoundRobin
	case j.Assignor == "":
		j.Assignor = theirs
	case theirs != "" && theirs != j.Assignor:
		return store.Errorf(store.Refused, "INCONSISTENT_GROUP_PROTOCOL",
			"the members of group %s have agreed on %s, not %s", w.id, theirs, j.Assignor)
	}
	return nil
}

func (w *change) classicMembers() []MemberMetadata {
	if w.g == nil || w.g.Classic == nil {
		return nil
	}
	return w.g.Classic.Members
}

// subscribers are the members as the assignor sees them.
func (w *change) subscribers() []Subscriber {
	var all []Subscriber
	for _, m := range w.classicMembers() {
		all = append(all, Subscriber{
			Member: m.MemberID, Topics: m.Topics(), Owned: m.Partitions(), Generation: w.g.Generation(),
		})
	}
	return all
}

// counts are how many partitions the topics have that anybody wants.
func (w *change) counts(members []Subscriber) map[string]int32 {
	counts := map[string]int32{}
	for _, topic := range topicsOf(members) {
		if t, err := w.c.cluster.Meta().Topic(topic); err == nil {
			counts[topic] = int32(len(t.Partitions))
		}
	}
	return counts
}

// outgrown tells whether the topics have other partitions than those that are assigned.
func (w *change) outgrown(members []Subscriber) bool {
	var assigned []store.TopicPartition
	for _, m := range members {
		assigned = append(assigned, m.Owned...)
	}
	slices.SortFunc(assigned, store.TopicPartition.Compare)
	return !slices.Equal(assigned, partitionsOf(topicsOf(members), w.counts(members)))
}

// rebalance begins a generation with the given members: what they have and who they are
// stands in the record that is written. me describes one that is new or changed.
func (w *change) rebalance(why, who string, a Assignor, members []Subscriber, me MemberMetadata) error {
	slices.SortFunc(members, func(x, y Subscriber) int { return strings.Compare(x.Member, y.Member) })
	m := Metadata{
		Group: w.id, ProtocolType: ConsumerProtocol, Generation: w.nextGeneration(),
		StateTimestamp: w.now,
	}
	if len(members) > 0 {
		m.Protocol, m.Leader = string(a), w.leader(members)
	}
	assignment := a.Assign(w.counts(members), members)
	for i := range members {
		known := w.memberNow(members[i].Member, me)
		if err := known.fill(a, &members[i], assignment[members[i].Member]); err != nil {
			return err
		}
		m.Members = append(m.Members, known)
	}
	if err := w.write(entry{key: m.AppendKey, value: m.AppendValue}); err != nil {
		return err
	}
	w.info(why, slog.String("member", who), slog.Int("generation", int(m.Generation)), slog.Int("members", len(m.Members)))
	return nil
}

// nextGeneration is 1 for a group that begins.
func (w *change) nextGeneration() int32 {
	if w.g == nil || w.g.Classic == nil {
		return 1
	}
	return w.g.Classic.Generation + 1
}

// leader stays as long as it is a member; then it is the first of them.
func (w *change) leader(members []Subscriber) string {
	for _, m := range members {
		if w.g != nil && w.g.Classic != nil && m.Member == w.g.Classic.Leader {
			return m.Member
		}
	}
	return members[0].Member
}

// memberNow is me, or what is known of another member.
func (w *change) memberNow(id string, me MemberMetadata) MemberMetadata {
	if id == me.MemberID {
		return me
	}
	return *w.g.classicMember(id)
}

// fill writes the blobs of a member.
func (m *MemberMetadata) fill(a Assignor, s *Subscriber, partitions []store.TopicPartition) (err error) {
	if m.Subscription, err = appendSubscription(nil, a, s); err != nil {
		return err
	}
	m.Assignment, err = appendAssignment(nil, partitions)
	return err
}
