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
	unfinished := int64(math.MaxInt64)
	for _, n := range list.Leftovers {
		if strings.HasSuffix(n.Suffix, segment.CleanedSuffix) {
			unfinished = min(unfinished, n.Base)
		}
	}
	var bases []int64
	for _, n := range list.Leftovers {
		if n.Suffix == segment.LogSuffix+segment.SwapSuffix && n.Base < unfinished {
			bases = append(bases, n.Base)
		}
	}
	return bases
}

// present lists the segments that count in a partition directory: while a compaction moves
// segments in place, or after it died there, those that wait stand for what they replace.
func present(fs vfs.ReadFS, dir string) (bases []int64, swapped map[int64]bool, err error) {
	list, err := segment.List(fs, dir)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range list.Segments {
		bases = append(bases, s.Base)
	}
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
	l.bases = l.bases[:0]
	for _, s := range list.Segments {
		l.bases = append(l.bases, s.Base)
	}
	return nil
}

// RefuseSwap is the refusal to change closed segments of a partition in which an
// interrupted compaction waits to be finished.
func RefuseSwap(tp TopicPartition) *Error {
	return Errorf(Refused, "", "%s: an interrupted compaction waits to be finished", tp).
		WithHint("logdir undo takes it back, logdir recover --policy kafka %s finishes it", tp)
}
