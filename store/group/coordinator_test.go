package group

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/vfs"
)

// A story: an owner, a second one, a stale commit, a break in ownership.
func TestMembersComeAndGo(t *testing.T) {
	l := newLab(t, "orders=2")
	l.append(t, tp("orders", 0), 10)
	l.append(t, tp("orders", 1), 10)

	equal(t, "a is alone", "generation 1: orders:0@0 orders:1@0", l.joins(t, join("g", "a", "orders")))
	l.moves(t, "g", "a", tp("orders", 0), 7)
	l.moves(t, "g", "a", tp("orders", 1), 7)
	equal(t, "b comes", "generation 2: orders:1@0", l.joins(t, join("g", "b", "orders")))
	equal(t, "c stands by", "generation 3:", l.joins(t, join("g", "c", "orders")))
	equal(t, "a has not noticed", "ILLEGAL_GENERATION", l.commits(t, "g", "a"))
	equal(t, "a notices, and keeps what it kept", "generation 3: orders:0@7", l.polls(t, "g", "a"))
	equal(t, "a commits", "orders:0@7", l.commits(t, "g", "a"))

	l.polls(t, "g", "b")
	l.moves(t, "g", "b", tp("orders", 1), 4)
	equal(t, "b commits", "orders:1@4", l.commits(t, "g", "b"))
	l.must(t, func(co *Coordinator) error { _, err := co.Leave(t.Context(), "g", "c"); return err })
	l.must(t, func(co *Coordinator) error { _, err := co.Leave(t.Context(), "g", "b"); return err })
	equal(t, "a had orders:1 before, but not all along", "generation 5: orders:0@7 orders:1@4", l.polls(t, "g", "a"))
	equal(t, "b is gone", "UNKNOWN_MEMBER_ID", l.commits(t, "g", "b"))

	equal(t, "a starts again and knows only what is committed", "generation 5: orders:0@7 orders:1@4", l.joins(t, join("g", "a", "orders")))
	equal(t, "another group", "generation 1: orders:0@0 orders:1@0", l.joins(t, join("h", "a", "orders")))
}

func TestResetPolicy(t *testing.T) {
	l := newLab(t, "orders=1")
	l.append(t, tp("orders", 0), 10)
	for policy, want := range map[Reset]string{
		Earliest: "generation 1: orders:0@0", Latest: "generation 1: orders:0@10", NoReset: "generation 1: orders:0@-1",
	} {
		j := join("g-"+string(policy), "a", "orders")
		j.Reset = policy
		equal(t, string(policy), want, l.joins(t, j))
	}
	equal(t, "a position that is not known is not committed", "", l.commits(t, "g-none", "a"))
}

// What a group refuses, and by which name.
func TestRefusals(t *testing.T) {
	l := newLab(t, "orders=2", "other=1")
	l.joins(t, join("g", "a", "orders"))
	l.joins(t, join("g", "b", "orders"))
	l.polls(t, "g", "a")
	ctx := t.Context()
	nothing := func(*Group) ([]Position, error) { return nil, nil }
	positions := func(p int32) []Position { return []Position{{Topic: "orders", Partition: p, Offset: 1}} }
	for _, c := range []struct {
		name, want string
		class      store.Class
		do         func(*Coordinator) error
	}{
		{"an unknown group", "GROUP_ID_NOT_FOUND", store.NotFound, func(co *Coordinator) error { _, err := co.Leave(ctx, "x", "a"); return err }},
		{"an unknown member", "UNKNOWN_MEMBER_ID", store.NotFound, func(co *Coordinator) error { _, err := co.Leave(ctx, "g", "x"); return err }},
		{"no name", "INVALID_GROUP_ID", store.Usage, func(co *Coordinator) error { _, err := co.Leave(ctx, "", "x"); return err }},
		{"an unknown topic", "UNKNOWN_TOPIC_OR_PARTITION", store.NotFound, func(co *Coordinator) error { _, err := co.Join(ctx, join("g", "c", "x")); return err }},
		{"an old generation", "ILLEGAL_GENERATION", store.Fenced, func(co *Coordinator) error { _, err := co.Commit(ctx, "g", "a", 1, nil); return err }},
		{"a generation to come", "ILLEGAL_GENERATION", store.Fenced, func(co *Coordinator) error { _, err := co.Commit(ctx, "g", "a", 3, nil); return err }},
		{"somebody else's partition", "NOT_PARTITION_OWNER", store.Fenced, func(co *Coordinator) error { _, err := co.Commit(ctx, "g", "a", 2, positions(1)); return err }},
		{"nobody's partition", "NOT_PARTITION_OWNER", store.Fenced, func(co *Coordinator) error { _, err := co.Commit(ctx, "g", "a", 2, positions(9)); return err }},
		{"another assignor", "INCONSISTENT_GROUP_PROTOCOL", store.Refused, func(co *Coordinator) error {
			j := join("g", "c", "orders")
			j.Assignor = Range
			_, err := co.Join(ctx, j)
			return err
		}},
		{"a reset under members", "NON_EMPTY_GROUP", store.Refused, func(co *Coordinator) error { return co.ResetOffsets(ctx, "g", false, nothing) }},
		{"a deletion under members", "NON_EMPTY_GROUP", store.Refused, func(co *Coordinator) error { return co.Delete(ctx, "g", false) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := l.run(t, c.do)
			if e, ok := errors.AsType[*store.Error](err); !ok || e.Name != c.want || e.Class != c.class {
				t.Errorf("%v, want %s of class %d", err, c.want, c.class)
			}
		})
	}
	if g, _ := l.groups(t).Group("g"); g.Generation() != 2 {
		t.Errorf("a refusal changed the generation to %d", g.Generation())
	}
}

// A topic that grew is divided anew when a member joins again.
func TestTopicGrows(t *testing.T) {
	l := newLab(t, "orders=1")
	l.joins(t, join("g", "a", "orders"))
	l.joins(t, join("g", "b", "orders"))
	c := l.open(t)
	if _, err := c.AlterTopic(t.Context(), "orders", cluster.Change{Partitions: 3}); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	equal(t, "b joins again", "generation 3: orders:1@0", l.joins(t, join("g", "b", "orders")))
	equal(t, "once more changes nothing", "generation 3: orders:1@0", l.joins(t, join("g", "b", "orders")))
}

// Somebody who is no longer a member, or never was one, leaves no file behind.
func TestMovedWithoutView(t *testing.T) {
	l := newLab(t, "orders=1")
	l.joins(t, join("g", "a", "orders"))
	l.must(t, func(co *Coordinator) error {
		v, err := co.View("g", "a")
		if err != nil {
			return err
		}
		if _, err := co.Leave(t.Context(), "g", "a"); err != nil {
			return err
		}
		return errors.Join(co.Moved(t.Context(), v), co.Moved(t.Context(), &View{Group: "g", Member: "x"}))
	})
	if left := ListMembers(l.fs, dataDir, "g"); len(left) > 0 {
		t.Errorf("the views of %v are there", left)
	}
}

// Whoever the group lost goes on with what they believe; whoever left, or never joined, does not.
func TestRecall(t *testing.T) {
	l := newLab(t, "orders=1")
	for _, member := range []string{"left", "lost"} {
		l.joins(t, join("g", member, "orders"))
	}
	recall := func(group, member string) (told string) {
		err := l.run(t, func(co *Coordinator) error {
			v, err := co.Recall(t.Context(), group, member)
			if err == nil {
				told = believes(v)
			}
			return err
		})
		if err != nil {
			return nameOf(t, err)
		}
		return told
	}
	l.must(t, func(co *Coordinator) error { _, err := co.Leave(t.Context(), "g", "left"); return err })
	l.polls(t, "g", "lost")
	l.now = l.now.Add(time.Hour)
	l.must(t, func(co *Coordinator) error { _, err := co.Expire(t.Context(), "g"); return err })
	equal(t, "lost", "generation 3: orders:0@0", recall("g", "lost"))
	for _, member := range []string{"left", "x", ""} {
		equal(t, "member "+member, "UNKNOWN_MEMBER_ID", recall("g", member))
	}
	equal(t, "no group", "GROUP_ID_NOT_FOUND", recall("h", "lost"))
}

func TestSessionsExpire(t *testing.T) {
	l := newLab(t, "orders=2")
	l.joins(t, join("g", "a", "orders"))
	l.now = l.now.Add(30 * time.Second)
	l.joins(t, join("g", "b", "orders"))
	expire := func() (e Expired) {
		l.must(t, func(co *Coordinator) (err error) {
			e, err = co.Expire(t.Context(), "g")
			return err
		})
		return e
	}
	l.now = l.now.Add(15*time.Second - time.Millisecond)
	if e := expire(); len(e.Members) > 0 || e.Generation != 2 {
		t.Errorf("a millisecond too early: %+v", e)
	}
	l.now = l.now.Add(time.Millisecond)
	if diff := cmp.Diff(Expired{"g", []string{"a"}, 3}, expire()); diff != "" {
		t.Error(diff)
	}
	equal(t, "a does not know yet", "UNKNOWN_MEMBER_ID", l.commits(t, "g", "a"))
	l.now = l.now.Add(29 * time.Second)
	l.must(t, func(co *Coordinator) error {
		behind, err := co.Heartbeat(t.Context(), "g", "b")
		if !behind {
			t.Error("b is told nothing of generation 3")
		}
		return err
	})
	l.now = l.now.Add(44 * time.Second)
	if e := expire(); len(e.Members) > 0 {
		t.Errorf("b gave a sign of life: %+v", e)
	}
}

// A group without members can be reset and deleted; of one that is gone nothing is left.
func TestResetAndDelete(t *testing.T) {
	l := newLab(t, "orders=2")
	reset := func(dry bool) {
		l.must(t, func(co *Coordinator) error {
			return co.ResetOffsets(t.Context(), "g", dry, func(*Group) ([]Position, error) {
				return []Position{{Topic: "orders", Partition: 0, Offset: 5, LeaderEpoch: -1}, {Topic: "orders", Partition: 1, Offset: 6, LeaderEpoch: -1}}, nil
			})
		})
	}
	reset(true)
	if g, ok := l.groups(t).Group("g"); ok {
		t.Errorf("a dry run made %+v", g)
	}
	reset(false)
	equal(t, "who joins begins there", "generation 1: orders:0@5 orders:1@6", l.joins(t, join("g", "a", "orders")))
	subscribed := l.run(t, func(co *Coordinator) error {
		_, err := co.DeleteOffsets(t.Context(), "g", false, func(store.TopicPartition) bool { return true })
		return err
	})
	equal(t, "a reads them", "GROUP_SUBSCRIBED_TO_TOPIC", nameOf(t, subscribed))
	l.must(t, func(co *Coordinator) error { _, err := co.Leave(t.Context(), "g", "a"); return err })
	l.must(t, func(co *Coordinator) error {
		gone, err := co.DeleteOffsets(t.Context(), "g", false, func(tp store.TopicPartition) bool { return tp.Partition == 1 })
		if len(gone) != 1 || gone[0].Offset != 6 {
			t.Errorf("deleted %+v", gone)
		}
		return err
	})
	if g, _ := l.groups(t).Group("g"); len(g.Offsets()) != 1 || g.Generation() != 2 {
		t.Errorf("left %+v in generation %d", g.Offsets(), g.Generation())
	}
	l.must(t, func(co *Coordinator) error { return co.Delete(t.Context(), "g", false) })
	if left := l.groups(t).Groups(); len(left) > 0 {
		t.Errorf("left %+v", left[0])
	}
	equal(t, "it begins anew", "generation 1: orders:0@0 orders:1@0", l.joins(t, join("g", "a", "orders")))
}

// group-commit.before-publish: the offsets are worked out, and nothing is written.
func TestFailpointOfCommit(t *testing.T) {
	l := newLab(t, "orders=1")
	l.joins(t, join("g", "a", "orders"))
	l.moves(t, "g", "a", tp("orders", 0), 5)
	l.armed = store.FailGroupCommit
	err := l.run(t, func(co *Coordinator) error {
		v, err := co.View("g", "a")
		if err != nil {
			return err
		}
		_, err = co.Commit(t.Context(), "g", "a", v.Generation, v.Positions)
		return err
	})
	if !errors.Is(err, errFailpoint) {
		t.Fatal(err)
	}
	l.armed = ""
	if g, _ := l.groups(t).Group("g"); len(g.Offsets()) > 0 {
		t.Errorf("committed %+v", g.Offsets())
	}
	equal(t, "the next one goes through", "orders:0@5", l.commits(t, "g", "a"))
}

// Names become those of files.
func TestStrangeNames(t *testing.T) {
	l := newLab(t, "orders=1")
	names := []string{"..", ".", "a/b", "with blank", "ü", "%2E", strings.Repeat("x", maxName)}
	for _, name := range names {
		l.joins(t, join(name, name, "orders"))
	}
	slices.Sort(names)
	if diff := cmp.Diff(names, ListGroups(l.fs, dataDir)); diff != "" {
		t.Error(diff)
	}
	for _, name := range names {
		if diff := cmp.Diff([]string{name}, ListMembers(l.fs, dataDir, name)); diff != "" {
			t.Error(diff)
		}
	}
	err := l.run(t, func(co *Coordinator) error {
		_, err := co.Join(t.Context(), join(strings.Repeat("x", maxName+1), "a", "orders"))
		return err
	})
	equal(t, "too long", "INVALID_GROUP_ID", nameOf(t, err))
}

func TestDamagedView(t *testing.T) {
	l := newLab(t, "orders=1")
	l.joins(t, join("g", "a", "orders"))
	if err := vfs.WriteAtomic(l.fs, viewFile(dataDir, "g", "a"), []byte("{")); err != nil {
		t.Fatal(err)
	}
	err := l.run(t, func(co *Coordinator) error { _, err := co.Refresh(t.Context(), "g", "a"); return err })
	if err == nil || !strings.HasPrefix(err.Error(), "d/clients/groups/g/a.json: bad-metadata") {
		t.Errorf("%v", err)
	}
}

// Offsets of a topic that is gone would count for a new one of its name.
func TestForgetTopic(t *testing.T) {
	l := newLab(t, "orders=1", "other=1")
	for _, g := range []string{"g", "h"} {
		l.joins(t, join(g, "a", "orders", "other"))
		l.moves(t, g, "a", tp("orders", 0), 5)
		l.commits(t, g, "a")
	}
	l.must(t, func(co *Coordinator) error { return co.ForgetTopic(t.Context(), "orders") })
	for _, g := range l.groups(t).Groups() {
		if all := g.Offsets(); len(all) != 1 || all[0].Topic != "other" {
			t.Errorf("group %s has %+v", g.ID, all)
		}
	}
}

// Members of one process and of others join and commit at once: none is lost, and each
// change is a generation of its own.
func TestConcurrentMembers(t *testing.T) {
	l := newLab(t, "orders=4")
	shared := NewCoordinator(l.open(t))
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			co := shared
			if i%2 == 1 {
				co = NewCoordinator(l.open(t))
				defer co.Close(context.Background())
			}
			name := fmt.Sprintf("m%02d", i)
			if _, err := co.Join(context.Background(), join("g", name, "orders")); err != nil {
				t.Error(err)
			}
			v, err := co.Refresh(context.Background(), "g", name)
			if err != nil {
				t.Error(err)
				return
			}
			_, err = co.Commit(context.Background(), "g", name, v.Generation, v.Positions)
			if err != nil && nameOf(t, err) != "ILLEGAL_GENERATION" {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := shared.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	g, _ := l.groups(t).Group("g")
	if len(g.Members()) != 16 || g.Generation() != 16 {
		t.Errorf("%d members in generation %d", len(g.Members()), g.Generation())
	}
}
