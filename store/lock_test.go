package store_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"logdir/store"
	"logdir/store/vfs/memfs"
)

func lockDir(t *testing.T) *memfs.FS {
	t.Helper()
	fs := memfs.New()
	if err := fs.MkdirAll("locks"); err != nil {
		t.Fatal(err)
	}
	return fs
}

// TestLocksExclude: another process (another Locks) and another goroutine (the same one)
// are kept out alike, each lock by its own name.
func TestLocksExclude(t *testing.T) {
	fs := lockDir(t)
	mine, theirs := store.NewLocks(fs, "locks", 0), store.NewLocks(fs, "locks", 0)
	tp := store.TopicPartition{Topic: "orders", Partition: 3}
	held, err := mine.Partition(t.Context(), tp)
	if err != nil {
		t.Fatal(err)
	}
	for who, l := range map[string]*store.Locks{"the same process": mine, "another": theirs} {
		_, err := l.Partition(t.Context(), tp)
		if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.Busy {
			t.Errorf("%s: %v, want busy", who, err)
		}
		other, err := l.Partition(t.Context(), store.TopicPartition{Topic: "orders", Partition: 4})
		if err != nil {
			t.Fatalf("%s: another partition: %v", who, err)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if on, err := theirs.PartitionHeld(tp); !on || err != nil {
		t.Errorf("held %v, %v", on, err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if on, err := theirs.PartitionHeld(tp); on || err != nil {
		t.Errorf("held %v after it was let go, %v", on, err)
	}
	again, err := theirs.Partition(t.Context(), tp)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestGroupNamesMayHoldAnything: a name with slashes and dots locks a file of its own.
func TestGroupNamesMayHoldAnything(t *testing.T) {
	l := store.NewLocks(lockDir(t), "locks", 0)
	for _, name := range []string{"a/b", "a%2Fb", "..", ".", "a b", ""} {
		if _, err := l.Group(t.Context(), name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestLockQueue: a hundred goroutines pass one lock on without polling for it.
func TestLockQueue(t *testing.T) {
	l := store.NewLocks(lockDir(t), "locks", time.Minute)
	inside, most := 0, 0
	var wait sync.WaitGroup
	for range 100 {
		wait.Go(func() {
			held, err := l.Metadata(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			inside++
			most = max(most, inside)
			inside--
			if err := held.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if most != 1 {
		t.Errorf("%d were inside at once", most)
	}
}

func TestLockEndsWithTheContext(t *testing.T) {
	l := store.NewLocks(lockDir(t), "locks", time.Minute)
	if _, err := l.Metadata(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Metadata(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestLocksFolderTidiedAway is made again.
func TestLocksFolderTidiedAway(t *testing.T) {
	l := store.NewLocks(memfs.New(), "locks", 0)
	held, err := l.Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLocksLongNames: two topics with names as long as Kafka allows, which differ at their
// ends only, are locked apart in files whose names a file system takes.
func TestLocksLongNames(t *testing.T) {
	fs := lockDir(t)
	locks := store.NewLocks(fs, "locks", 0)
	for _, end := range []string{"a", "b"} {
		tp := store.TopicPartition{Topic: strings.Repeat("x", 248) + end, Partition: 99999}
		for _, lock := range []func(context.Context, store.TopicPartition) (io.Closer, error){locks.Partition, locks.DLQ} {
			held, err := lock(t.Context(), tp)
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
		}
	}
	names, err := fs.ReadDir("locks")
	if err != nil || len(names) != 4 {
		t.Errorf("%d lock files, %v, want 4", len(names), err)
	}
	for _, n := range names {
		if len(n.Name()) > 255 {
			t.Errorf("%s: %d bytes", n.Name(), len(n.Name()))
		}
	}
}
