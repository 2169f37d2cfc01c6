package group

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"logdir/store"
)

// groupModel is what must hold of one group, without any idea of who gets what.
type groupModel struct {
	generation int32
	members    map[string][]string // their topics
	seen       map[string]int32    // the generation that each member knows
	heard      map[string]time.Time
	committed  map[store.TopicPartition]int64
}

func newGroupModel() *groupModel {
	return &groupModel{
		members: map[string][]string{}, seen: map[string]int32{}, heard: map[string]time.Time{},
		committed: map[store.TopicPartition]int64{},
	}
}

// machine runs commands against a coordinator and its model. Each command may be one of
// the process that ran the one before, or of a new one.
type machine struct {
	t      *rapid.T
	lab    *lab
	models map[string]*groupModel
	counts map[string]int32
	shared *Coordinator // of a process that lives on, nil for none
	done   func() error
}

// TestGroupsByModel: whatever members do, each partition has one owner in each generation,
// a generation begins only when members come or go, only members of the current one commit,
// and groups do not touch each other.
func TestGroupsByModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{
			t: t, lab: newLab(t, "orders=3", "other=2"),
			models: map[string]*groupModel{"g": newGroupModel(), "h": newGroupModel()},
			counts: map[string]int32{"orders": 3, "other": 2},
		}
		t.Repeat(map[string]func(*rapid.T){
			"":          m.check,
			"join":      m.join,
			"leave":     m.leave,
			"poll":      m.poll,
			"commit":    m.commit,
			"heartbeat": m.heartbeat,
			"expire":    m.expire,
			"reset":     m.reset,
			"process":   m.process,
		})
		m.stop()
	})
}

func (m *machine) group(t *rapid.T) (string, *groupModel) {
	name := rapid.SampledFrom([]string{"g", "h"}).Draw(t, "group")
	return name, m.models[name]
}

func (m *machine) member(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "member")
}

// run is one command.
func (m *machine) run(do func(*Coordinator) error) error {
	if m.shared != nil {
		return do(m.shared)
	}
	return m.lab.run(m.t, do)
}

// process lets the following commands be those of one process, or each one its own.
func (m *machine) process(*rapid.T) {
	if m.shared != nil {
		m.stop()
		return
	}
	c := m.lab.open(m.t)
	m.shared = NewCoordinator(c)
	m.done = func() error { return errors.Join(m.shared.Close(context.Background()), c.Close()) }
}

func (m *machine) stop() {
	if m.shared == nil {
		return
	}
	if err := m.done(); err != nil {
		m.t.Fatal(err)
	}
	m.shared = nil
}

// refused requires an error by Kafka's name.
func refused(t *rapid.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("not refused: want %s", want)
	}
	if got := nameOf(t, err); got != want {
		t.Fatalf("%s, want %s: %v", got, want, err)
	}
}

// known tells what a command about a member must answer; "" for nothing wrong.
func (g *groupModel) known(member string) string {
	switch {
	case g.generation == 0 && len(g.committed) == 0:
		return "GROUP_ID_NOT_FOUND"
	case g.members[member] == nil:
		return "UNKNOWN_MEMBER_ID"
	}
	return ""
}

func (m *machine) join(t *rapid.T) {
	name, g := m.group(t)
	member := m.member(t)
	topics := rapid.SampledFrom([][]string{{"orders"}, {"other"}, {"orders", "other"}}).Draw(t, "topics")
	var v *View
	err := m.run(func(co *Coordinator) (err error) {
		v, err = co.Join(context.Background(), join(name, member, topics...))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.members[member], topics) {
		g.generation++
	}
	g.members[member], g.heard[member] = topics, m.lab.now
	g.takesOver(t, member, v)
}

// takesOver holds a fresh view against the model: the generation, and that nothing is read
// from before what was committed, or from behind it, but by its owner.
func (g *groupModel) takesOver(t *rapid.T, member string, v *View) {
	t.Helper()
	if v.Generation != g.generation {
		t.Fatalf("%s is at generation %d, not %d", member, v.Generation, g.generation)
	}
	g.seen[member] = g.generation
}

func (m *machine) leave(t *rapid.T) {
	name, g := m.group(t)
	member := m.member(t)
	err := m.run(func(co *Coordinator) error { _, err := co.Leave(context.Background(), name, member); return err })
	if want := g.known(member); want != "" {
		refused(t, err, want)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	g.generation++
	g.drop(member)
}

func (g *groupModel) drop(member string) {
	delete(g.members, member)
	delete(g.seen, member)
	delete(g.heard, member)
}

// poll takes the assignment over and reads a few records of it.
func (m *machine) poll(t *rapid.T) {
	name, g := m.group(t)
	member := m.member(t)
	records := rapid.Int64Range(0, 3).Draw(t, "records")
	var v *View
	err := m.run(func(co *Coordinator) (err error) {
		if v, err = co.Refresh(context.Background(), name, member); err != nil {
			return err
		}
		for i := range v.Positions {
			v.Positions[i].Offset += records
		}
		return co.Moved(context.Background(), v)
	})
	if want := g.known(member); want != "" {
		refused(t, err, want)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	g.heard[member] = m.lab.now
	g.takesOver(t, member, v)
}

func (m *machine) commit(t *rapid.T) {
	name, g := m.group(t)
	member := m.member(t)
	var done []OffsetCommit
	err := m.run(func(co *Coordinator) error {
		v, err := co.View(name, member)
		if err != nil {
			return err
		}
		done, err = co.Commit(context.Background(), name, member, v.Generation, v.Positions)
		return err
	})
	switch want := g.known(member); {
	case want != "":
		refused(t, err, want)
		return
	case g.seen[member] != g.generation:
		refused(t, err, "ILLEGAL_GENERATION")
		return
	case err != nil:
		t.Fatal(err)
	}
	g.heard[member] = m.lab.now
	for _, c := range done {
		g.committed[tp(c.Topic, c.Partition)] = c.Offset
	}
}

func (m *machine) heartbeat(t *rapid.T) {
	name, g := m.group(t)
	member := m.member(t)
	var behind bool
	err := m.run(func(co *Coordinator) (err error) {
		behind, err = co.Heartbeat(context.Background(), name, member)
		return err
	})
	if want := g.known(member); want != "" {
		refused(t, err, want)
		return
	}
	if err != nil || behind != (g.seen[member] != g.generation) {
		t.Fatalf("behind %v at generation %d of %d, %v", behind, g.seen[member], g.generation, err)
	}
	g.heard[member] = m.lab.now
}

// expire lets time pass, and the timer fire.
func (m *machine) expire(t *rapid.T) {
	name, g := m.group(t)
	m.lab.now = m.lab.now.Add(time.Duration(rapid.IntRange(0, DefaultSessionTimeout).Draw(t, "ms")) * time.Millisecond)
	var e Expired
	err := m.run(func(co *Coordinator) (err error) {
		e, err = co.Expire(context.Background(), name)
		return err
	})
	if g.generation == 0 && len(g.committed) == 0 {
		refused(t, err, "GROUP_ID_NOT_FOUND")
		return
	}
	var want []string
	for _, member := range slices.Sorted(maps.Keys(g.members)) {
		if m.lab.now.Sub(g.heard[member]) >= DefaultSessionTimeout*time.Millisecond {
			want = append(want, member)
			g.drop(member)
		}
	}
	if len(want) > 0 {
		g.generation++
	}
	if err != nil || !slices.Equal(e.Members, want) {
		t.Fatalf("expired %v, want %v: %v", e.Members, want, err)
	}
}

func (m *machine) reset(t *rapid.T) {
	name, g := m.group(t)
	at := tp("orders", rapid.Int32Range(0, 2).Draw(t, "partition"))
	to := rapid.Int64Range(0, 9).Draw(t, "to")
	err := m.run(func(co *Coordinator) error {
		return co.ResetOffsets(context.Background(), name, false, func(*Group) ([]Position, error) {
			return []Position{{Topic: at.Topic, Partition: at.Partition, Offset: to, LeaderEpoch: -1}}, nil
		})
	})
	if len(g.members) > 0 {
		refused(t, err, "NON_EMPTY_GROUP")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	g.committed[at] = to
}

// check holds what the log says, read from its start, against the models.
func (m *machine) check(t *rapid.T) {
	state := m.lab.groups(t)
	for name, g := range m.models {
		got, ok := state.Group(name)
		if !ok {
			if g.generation > 0 || len(g.committed) > 0 {
				t.Fatalf("group %s is gone", name)
			}
			continue
		}
		if g.generation != max(got.Generation(), 0) {
			t.Fatalf("group %s is at generation %d, not %d", name, got.Generation(), g.generation)
		}
		m.checkMembers(t, g, got)
		committed := map[store.TopicPartition]int64{}
		for _, c := range got.Offsets() {
			committed[tp(c.Topic, c.Partition)] = c.Offset
		}
		if !maps.Equal(g.committed, committed) {
			t.Fatalf("group %s has committed %v, not %v", name, committed, g.committed)
		}
	}
}

func (m *machine) checkMembers(t *rapid.T, g *groupModel, got *Group) {
	t.Helper()
	assignment := Assignment{}
	var members []Subscriber
	for _, member := range got.Members() {
		assignment[member.ID] = member.Assignment
		members = append(members, Subscriber{Member: member.ID, Topics: g.members[member.ID]})
	}
	if !slices.Equal(slices.Sorted(maps.Keys(assignment)), slices.Sorted(maps.Keys(g.members))) {
		t.Fatalf("members %s, want %v", show(assignment), g.members)
	}
	if len(members) > 0 {
		checkOwners(t, m.counts, members, assignment)
	}
}
