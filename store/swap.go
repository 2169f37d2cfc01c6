package store

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"logdir/store/segment"
	"logdir/store/vfs"
)

// pendingSwaps lists the segments that a compaction has finished and not yet moved in
// place, as a broker finds them when it starts: one that is not below every unfinished
// segment is not finished itself.
func pendingSwaps(list segment.Listing) []int64 {
	unfinished := firstUnfinished(list)
	var bases []int64
	for _, n := range list.Leftovers {
		if n.Suffix == segment.LogSuffix+segment.SwapSuffix && n.Base < unfinished {
			bases = append(bases, n.Base)
		}
	}
	return bases
}

// firstUnfinished is the lowest segment that a compaction has not finished; MaxInt64 if there
// is none.
func firstUnfinished(list segment.Listing) int64 {
	first := int64(math.MaxInt64)
	for _, n := range list.Leftovers {
		if strings.HasSuffix(n.Suffix, segment.CleanedSuffix) {
			first = min(first, n.Base)
		}
	}
	return first
}

// patience is how often in a row a reader looks again for what somebody moves away.
const patience = 10

// present lists the segments that count in a partition directory: while a compaction moves
// segments in place, or after it died there, those that wait stand for what they replace.
func present(fs vfs.ReadFS, dir string) (bases []int64, swapped map[int64]bool, err error) {
	for range patience {
		bases, swapped, err = presentNow(fs, dir)
		if !isNotExist(err) {
			break
		}
		if there, err := vfs.Exists(fs, dir); !there || err != nil {
			break
		}
	}
	return bases, swapped, err
}

func presentNow(fs vfs.ReadFS, dir string) (bases []int64, swapped map[int64]bool, err error) {
	list, err := segment.List(fs, dir)
	if err != nil {
		return nil, nil, err
	}
	bases = basesOf(list, nil)
	swaps := pendingSwaps(list)
	if len(swaps) == 0 {
		return bases, nil, nil
	}
	end, err := swapEnd(fs, dir, swaps[len(swaps)-1])
	if err != nil {
		return nil, nil, err
	}
	bases = slices.DeleteFunc(bases, func(base int64) bool { return base >= swaps[0] && base < end || slices.Contains(swaps, base) })
	bases = append(bases, swaps...)
	slices.Sort(bases)
	swapped = make(map[int64]bool, len(swaps))
	for _, base := range swaps {
		swapped[base] = true
	}
	return bases, swapped, nil
}

// swapEnd is the offset behind the last batch of a segment that waits.
func swapEnd(fs vfs.ReadFS, dir string, base int64) (end int64, err error) {
	f, err := fs.Open(filepath.Join(dir, segment.FileName(base, segment.LogSuffix+segment.SwapSuffix)))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	scan := segment.NewScanner(f, info.Size(), segment.Options{Base: base, SkipCRC: true})
	for scan.Next() {
	}
	return max(scan.NextOffset(), base), scan.Err()
}

// relist looks at the segments again before some of them are removed: a compaction may have
// joined them since. While an interrupted one waits it refuses: a broker that started would
// finish that, and bring back what was removed.
func (l *Log) relist() error {
	list, err := segment.List(l.fs, l.dir)
	if err != nil {
		return err
	}
	if len(pendingSwaps(list)) > 0 {
		return RefuseSwap(l.config.TopicPartition)
	}
	l.bases = basesOf(list, l.bases[:0])
	return nil
}

// basesOf appends the base offsets of the segments.
func basesOf(list segment.Listing, dst []int64) []int64 {
	for _, s := range list.Segments {
		dst = append(dst, s.Base)
	}
	return dst
}

// RefuseSwap is the refusal to change closed segments of a partition in which an
// interrupted compaction waits to be finished.
func RefuseSwap(tp TopicPartition) *Error {
	return Errorf(Refused, "", "%s: an interrupted compaction waits to be finished", tp).
		WithHint("logdir undo takes it back, logdir recover --policy kafka %s finishes it", tp)
}
