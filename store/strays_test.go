package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// later is the timestamp of a batch that is not the original of its offset.
const later = moment + 1

// segmentOf is a log of one-record batches with these offsets; a negative one stands for the
// offset with another content.
func segmentOf(t *testing.T, offsets ...int) []byte {
	t.Helper()
	var raw []byte
	for _, o := range offsets {
		if o < 0 {
			raw = append(raw, kv(t, -o, later)...)
			continue
		}
		raw = append(raw, kv(t, o, moment)...)
	}
	return raw
}

// walk lists the offsets that a cursor meets from an offset on, and the damage.
func walk(t *testing.T, fs *memfs.FS, from int64, o store.ReaderOptions) []string {
	t.Helper()
	r, err := store.OpenReader(fs, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	c := r.From(from)
	var got []string
	for c.Next() {
		if d := c.Damage(); d != nil {
			got = append(got, fmt.Sprintf("%s of %d", d.Kind, d.BaseOffset))
			continue
		}
		got = append(got, fmt.Sprint(c.Batch().BaseOffset()))
	}
	if c.Err() != nil || c.Close() != nil {
		t.Fatal(c.Err())
	}
	return got
}

// TestInterruptedCleaning: batches that a segment holds of later ones are met once, in order,
// and where they belong. A batch that is no copy is damage.
func TestInterruptedCleaning(t *testing.T) {
	type log map[int64][]int // the segments by base offset
	for _, c := range []struct {
		name string
		log  log
		from int64
		want []string
	}{
		{"twice", log{0: {0, 5}, 4: {4, 5, 6}}, 0, []string{"0", "4", "5", "6"}},
		{"twice, and nothing of the segment's own", log{0: {5, 6}, 4: {4, 5, 6}}, 0, []string{"4", "5", "6"}},
		{"from the copy on", log{0: {0, 5}, 4: {4, 5, 6}}, 5, []string{"5", "6"}},
		{"over three segments", log{0: {1, 5, 9}, 4: {4, 5}, 8: {8, 9}}, 0, []string{"1", "4", "5", "8", "9"}},
		{"in two segments", log{0: {1, 9}, 4: {5, 9}, 8: {8, 9}}, 0, []string{"1", "5", "8", "9"}},
		{"only in front", log{0: {0, 5, 7}, 4: {4, 5}, 8: {8}}, 0, []string{"0", "4", "5", "7", "8"}},
		{"only in front, in a gap", log{0: {0, 5, 7}, 4: {4, 5, 8}}, 0, []string{"0", "4", "5", "7", "8"}},
		{"only in front, behind the end", log{0: {0, 5, 7}, 4: {4, 5}}, 0, []string{"0", "4", "5", "7"}},
		{"only in front, of two segments", log{0: {0, 7, 9}, 4: {5, 7, 9}, 8: {9}}, 0, []string{"0", "5", "7", "9"}},
		{"only in front, by turns", log{0: {4, 6, 8, 11}, 2: {4, 5, 7, 11}, 3: {3, 4, 5}}, 0, []string{"3", "4", "5", "6", "7", "8", "11"}},
		{"only in front, before the start", log{0: {0, 5, 7}, 4: {4, 5, 8}}, 8, []string{"8"}},
		{"no copy", log{0: {0, 6}, 4: {4, 5}}, 0, []string{"0", "bad-offset of 6", "4", "5"}},
		{"another content", log{0: {0, -5}, 4: {4, 5}}, 0, []string{"0", "bad-offset of 5", "4", "5"}},
		{"another content beside a copy", log{0: {0, 5, -6}, 4: {4, 5, 6}}, 0, []string{"0", "bad-offset of 5", "bad-offset of 6", "4", "5", "6"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := newDir(t)
			for base, offsets := range c.log {
				put(t, fs, segment.FileName(base, segment.LogSuffix), segmentOf(t, offsets...))
			}
			for _, skip := range []bool{false, true} {
				got := walk(t, fs, c.from, store.ReaderOptions{SkipCRC: skip})
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("skip checksums %v: %s", skip, diff)
				}
			}
		})
	}
}

// TestBatchOnlyInFront: the batch says where it stands, and its records can be read.
func TestBatchOnlyInFront(t *testing.T) {
	fs := newDir(t)
	put(t, fs, logName, segmentOf(t, 0, 5, 7))
	put(t, fs, "00000000000000000004.log", segmentOf(t, 4, 5, 8))
	if diff := cmp.Diff([]string{"0=v0", "4=v4", "5=v5", "7=v7", "8=v8"}, contents(t, fs, 0)); diff != "" {
		t.Error(diff)
	}
	c := openReader(t, fs).From(0)
	var places []string
	for c.Next() {
		places = append(places, fmt.Sprintf("%d: %d at %d", c.Batch().BaseOffset(), c.Segment(), c.Pos()))
	}
	want := []string{"0: 0 at 0", "4: 4 at 0", "5: 4 at 72", "7: 0 at 144", "8: 4 at 144"}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Error(diff)
	}
}

// TestDamageAmongStrays: damage in a later segment is met in front of what an earlier one has
// behind it.
func TestDamageAmongStrays(t *testing.T) {
	fs := newDir(t)
	put(t, fs, logName, segmentOf(t, 0, 5, 7))
	second := segmentOf(t, 4, 5, 6, 8)
	second[2*72+69] ^= 1
	put(t, fs, "00000000000000000004.log", second)
	got := walk(t, fs, 0, store.ReaderOptions{})
	if want := []string{"0", "4", "5", "bad-crc of 6", "7", "8"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// listings counts how often a directory is listed.
type listings struct {
	vfs.FS
	n int
}

func (l *listings) ReadDir(name string) ([]fs.DirEntry, error) {
	l.n++
	return l.FS.ReadDir(name)
}

// TestManyStrays: however many batches stand twice, or are damage, the folder is not listed
// for each of them.
func TestManyStrays(t *testing.T) {
	var offsets, other []int
	for o := range 500 {
		offsets, other = append(offsets, o+1), append(other, -o-1)
	}
	for name, first := range map[string][]int{"copies": offsets, "others": other} {
		disk := newDir(t)
		put(t, disk, logName, segmentOf(t, first...))
		put(t, disk, "00000000000000000001.log", segmentOf(t, offsets...))
		count := &listings{FS: disk}
		r, err := store.OpenReader(count, dir, store.ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c := r.From(0)
		good := 0
		for c.Next() {
			if c.Damage() == nil {
				good++
			}
		}
		if err := errors.Join(c.Err(), c.Close()); err != nil || good != 500 {
			t.Errorf("%s: %d batches, %v", name, good, err)
		}
		if count.n > 10 {
			t.Errorf("%s: the folder was listed %d times", name, count.n)
		}
	}
}
