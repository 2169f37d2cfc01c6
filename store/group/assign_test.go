package group

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"logdir/store"
)

// subscribers reads "a:t0,t1 b:t0": members and the topics that they want. Behind a slash
// stands what one owned in generation 1: "a:t0/t0-0,t0-1".
func subscribersOf(text string) []Subscriber {
	var all []Subscriber
	for word := range strings.FieldsSeq(text) {
		member, rest, _ := strings.Cut(word, ":")
		topics, owned, _ := strings.Cut(rest, "/")
		s := Subscriber{Member: member, Topics: strings.Split(topics, ","), Generation: 1}
		if owned != "" {
			s.Owned = partitionsFrom(owned)
		}
		all = append(all, s)
	}
	return all
}

func partitionsFrom(text string) (all []store.TopicPartition) {
	for one := range strings.SplitSeq(text, ",") {
		topic, number, _ := strings.Cut(one, "-")
		var p int32
		fmt.Sscan(number, &p)
		all = append(all, store.TopicPartition{Topic: topic, Partition: p})
	}
	return all
}

// show writes an assignment as "a=t0-0,t0-1 b=".
func show(a Assignment) string {
	var words []string
	for _, member := range slices.Sorted(maps.Keys(a)) {
		var list []string
		for _, tp := range a[member] {
			list = append(list, tp.Dir())
		}
		words = append(words, member+"="+strings.Join(list, ","))
	}
	return strings.Join(words, " ")
}

// The examples of Kafka's own documentation, and the corners of each rule.
func TestAssign(t *testing.T) {
	counts := map[string]int32{"t0": 1, "t1": 2, "t2": 3, "x": 3, "y": 3, "big": 7, "none": 0}
	for _, c := range []struct {
		name     string
		assignor Assignor
		members  string
		want     string
	}{
		{"a run of each topic", Range, "a:x,y b:x,y", "a=x-0,x-1,y-0,y-1 b=x-2,y-2"},
		{"the first r members get one more", Range, "a:big b:big c:big", "a=big-0,big-1,big-2 b=big-3,big-4 c=big-5,big-6"},
		{"more members than partitions", Range, "a:t1 b:t1 c:t1", "a=t1-0 b=t1-1 c="},
		{"only who wants it", Range, "a:x b:x,y", "a=x-0,x-1 b=x-2,y-0,y-1,y-2"},
		{"cards across topics", RoundRobin, "a:x,y b:x,y", "a=x-0,x-2,y-1 b=x-1,y-0,y-2"},
		{"passing over", RoundRobin, "a:t0 b:t0,t1 c:t0,t1,t2", "a=t0-0 b=t1-0 c=t1-1,t2-0,t2-1,t2-2"},
		{"standby", RoundRobin, "a:t0 b:t0", "a=t0-0 b="},
		{"the order of members is by name", RoundRobin, "b:x a:x", "a=x-0,x-2 b=x-1"},
		{"a topic without partitions", RoundRobin, "a:none", "a="},
		{"sticky at first is round robin", Sticky, "a:x,y b:x,y", "a=x-0,x-2,y-1 b=x-1,y-0,y-2"},
		{"one leaves, two keep", Sticky, "a:x,y/x-0,y-1 c:x,y/x-2,y-0", "a=x-0,x-1,y-1 c=x-2,y-0,y-2"},
		{
			"one comes, and gets what is above the quota: by number, then topic", Sticky,
			"a:x,y/x-0,x-1,x-2 b:x,y/y-0,y-1,y-2 c:x,y", "a=x-0,x-1 b=y-0,y-1 c=x-2,y-2",
		},
		{"exactly P mod C are above the least", Sticky, "a:x/x-0,x-1,x-2 b:x", "a=x-0,x-1 b=x-2"},
		{"nobody is below: the first by name gets more", Sticky, "a:big/big-0,big-1 b:big/big-2,big-3 c:big/big-4,big-5", "a=big-0,big-1,big-6 b=big-2,big-3 c=big-4,big-5"},
		{"fewer partitions than members", Sticky, "a:t1 b:t1/t1-0 c:t1", "a=t1-1 b=t1-0 c="},
		{"claimed twice in one generation: taken from both", Sticky, "a:t1/t1-0,t1-1 b:t1/t1-0", "a=t1-1 b=t1-0"},
		{"what is gone, or wanted no more, is not kept", Sticky, "a:x/x-0,x-9,y-0 b:x", "a=x-0,x-2 b=x-1"},
		{"different wishes", Sticky, "a:t0 b:t0,t1 c:t0,t1,t2", "a=t0-0 b=t1-0,t1-1 c=t2-0,t2-1,t2-2"},
		{"different wishes, kept", Sticky, "a:x,y/y-0,y-1 b:x/x-0", "a=y-0,y-1,y-2 b=x-0,x-1,x-2"},
		{"different wishes, one overloaded", Sticky, "a:x,y/x-0,x-1,x-2,y-0,y-1,y-2 b:x", "a=y-0,y-1,y-2 b=x-0,x-1,x-2"},
	} {
		t.Run(string(c.assignor)+": "+c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, show(c.assignor.Assign(counts, subscribersOf(c.members)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Of two claims the one of the newer generation counts.
func TestNewerClaimWins(t *testing.T) {
	members := subscribersOf("a:t1/t1-0,t1-1 b:t1/t1-0,t1-1")
	members[1].Generation = 2
	got := Sticky.Assign(map[string]int32{"t1": 2}, members)
	if want := "a=t1-1 b=t1-0"; show(got) != want { // b had both: it keeps the first
		t.Errorf("%s, want %s", show(got), want)
	}
}

// drawGroup draws topics and members that want some of them. equal lets all want the same.
func drawGroup(t *rapid.T, equal bool) (map[string]int32, []Subscriber) {
	counts := map[string]int32{}
	for i := range rapid.IntRange(1, 4).Draw(t, "topics") {
		counts[fmt.Sprintf("t%d", i)] = rapid.Int32Range(0, 7).Draw(t, "partitions")
	}
	all := slices.Sorted(maps.Keys(counts))
	wish := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, len(all), rapid.ID[string])
	topics := wish.Draw(t, "wish")
	var members []Subscriber
	for i := range rapid.IntRange(1, 6).Draw(t, "members") {
		if !equal {
			topics = wish.Draw(t, "wish")
		}
		members = append(members, Subscriber{Member: fmt.Sprintf("m%d", i), Topics: topics, Generation: noGeneration})
	}
	return counts, members
}

// owning is the group as it is after an assignment.
func owning(members []Subscriber, a Assignment, generation int32) []Subscriber {
	next := slices.Clone(members)
	for i := range next {
		next[i].Owned, next[i].Generation = a[next[i].Member], generation
	}
	return next
}

// Every partition that anybody wants has exactly one owner, and one that wants it.
func checkOwners(t *rapid.T, counts map[string]int32, members []Subscriber, a Assignment) {
	t.Helper()
	owned := map[store.TopicPartition]string{}
	for _, m := range members {
		list, ok := a[m.Member]
		if !ok {
			t.Fatalf("%s is not in the assignment %s", m.Member, show(a))
		}
		for _, tp := range list {
			if other := owned[tp]; other != "" || !m.wants(tp.Topic) {
				t.Fatalf("%s goes to %s, which wants %v, and to %q", tp, m.Member, m.Topics, other)
			}
			owned[tp] = m.Member
		}
	}
	if all := partitionsOf(topicsOf(members), counts); len(all) != len(owned) {
		t.Fatalf("%d of %d partitions have an owner: %s", len(owned), len(all), show(a))
	}
}

func TestEveryPartitionHasOneOwner(t *testing.T) {
	for _, a := range Assignors {
		t.Run(string(a), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				counts, members := drawGroup(t, false)
				checkOwners(t, counts, members, a.Assign(counts, members))
			})
		})
	}
}

// No two members that want the same differ by more than one partition; with Range, by more
// than one of each topic.
func TestBalance(t *testing.T) {
	for _, a := range Assignors {
		t.Run(string(a), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				counts, members := drawGroup(t, true)
				got := a.Assign(counts, members)
				if a != Range {
					checkEven(t, got, func(store.TopicPartition) bool { return true })
					return
				}
				for topic := range counts {
					checkEven(t, got, func(tp store.TopicPartition) bool { return tp.Topic == topic })
				}
			})
		})
	}
}

func checkEven(t *rapid.T, a Assignment, counts func(store.TopicPartition) bool) {
	t.Helper()
	least, most := 1<<30, 0
	for _, list := range a {
		n := len(slices.DeleteFunc(slices.Clone(list), func(tp store.TopicPartition) bool { return !counts(tp) }))
		least, most = min(least, n), max(most, n)
	}
	if most-least > 1 {
		t.Fatalf("from %d to %d: %s", least, most, show(a))
	}
}

// Whatever the wishes, sticky leaves nobody with two partitions more than another who wants
// one of them.
func TestStickyCannotBeBetter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts, members := drawGroup(t, false)
		before := Range.Assign(counts, members)
		got := Sticky.Assign(counts, owning(members, before, 1))
		checkOwners(t, counts, members, got)
		for from, list := range got {
			for _, tp := range list {
				for _, m := range members {
					if m.wants(tp.Topic) && len(list) > len(got[m.Member])+1 {
						t.Fatalf("%s could go from %s to %s: %s", tp, from, m.Member, show(got))
					}
				}
			}
		}
	})
}

// Nothing changed: nothing moves.
func TestStickyStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts, members := drawGroup(t, false)
		first := Sticky.Assign(counts, members)
		second := Sticky.Assign(counts, owning(members, first, 1))
		if diff := cmp.Diff(show(first), show(second)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// When one member of equals leaves, or comes, only what must move does: what had the one
// that left, or what the one that came may have.
func TestStickyMovesNoMoreThanItMust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts, members := drawGroup(t, true)
		first := Sticky.Assign(counts, members)
		after := owning(members, first, 1)
		must := 0
		if len(after) > 1 && rapid.Bool().Draw(t, "leaves") {
			must = len(first[after[0].Member])
			after = after[1:]
		} else {
			after = append(after, Subscriber{Member: "new", Topics: members[0].Topics, Generation: noGeneration})
			must = len(Sticky.Assign(counts, after)["new"])
		}
		moved := 0
		for member, list := range Sticky.Assign(counts, after) {
			for _, tp := range list {
				if !slices.Contains(first[member], tp) {
					moved++
				}
			}
		}
		if moved != must {
			t.Fatalf("%d partitions moved, %d had to", moved, must)
		}
	})
}
