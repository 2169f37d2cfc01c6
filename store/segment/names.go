package segment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"logdir/store/vfs"
)

// Suffixes of the files of a partition directory.
const (
	LogSuffix       = ".log"
	IndexSuffix     = ".index"
	TimeIndexSuffix = ".timeindex"
	TxnIndexSuffix  = ".txnindex"
	SnapshotSuffix  = ".snapshot"

	// DeletedSuffix, CleanedSuffix and SwapSuffix come behind one of those above.
	DeletedSuffix = ".deleted" // waits to be removed
	CleanedSuffix = ".cleaned" // a cleaner's unfinished work
	SwapSuffix    = ".swap"    // a cleaner's finished work, to be renamed
)

// FileName is the name of a segment's file: the base offset in 20 digits and a suffix.
func FileName(base int64, suffix string) string { return fmt.Sprintf("%020d%s", base, suffix) }

// ParseName cuts a name at its first dot, as Kafka does: the number before it is an
// offset, and the suffix is the dot and all behind it. Padding does not count.
func ParseName(name string) (base int64, suffix string, ok bool) {
	dot := strings.IndexByte(name, '.')
	if dot < 0 {
		return 0, "", false
	}
	base, err := strconv.ParseInt(name[:dot], 10, 64)
	if err != nil {
		return 0, "", false
	}
	return base, name[dot:], true
}

// Name is a file name that ParseName could read.
type Name struct {
	Name   string
	Base   int64
	Suffix string
}

// Files are the files of one segment. Those that are not there have an empty name.
type Files struct {
	Base                                      int64
	Log, Index, TimeIndex, TxnIndex, Snapshot string
}

// Listing sorts the files of a partition directory. Every list is in the order of the
// base offsets.
type Listing struct {
	Segments  []Files
	Orphans   []Name   // index files without their .log
	Snapshots []Name   // all of them, at a segment's base or not
	Leftovers []Name   // .deleted .cleaned .swap
	BadNames  []string // a broker parses these names, and stops
	Others    []string // everything else, folders too
}

// List reads a partition directory. It opens no file.
func List(fs vfs.ReadFS, dir string) (Listing, error) {
	entries, err := fs.ReadDir(dir)
	if err != nil {
		return Listing{}, err
	}
	var l Listing
	var indexes []Name
	for _, e := range entries {
		base, suffix, ok := ParseName(e.Name())
		name := Name{e.Name(), base, suffix}
		switch {
		case e.IsDir():
			l.Others = append(l.Others, e.Name())
		case !ok:
			l.addUnnumbered(e.Name())
		case suffix == LogSuffix:
			l.Segments = append(l.Segments, Files{Base: base, Log: e.Name()})
		case suffix == SnapshotSuffix:
			l.Snapshots = append(l.Snapshots, name)
		case suffix == IndexSuffix || suffix == TimeIndexSuffix || suffix == TxnIndexSuffix:
			indexes = append(indexes, name)
		case isLeftover(suffix):
			l.Leftovers = append(l.Leftovers, name)
		default:
			l.Others = append(l.Others, e.Name())
		}
	}
	l.sort()
	l.attach(indexes)
	return l, nil
}

func isLeftover(name string) bool {
	return strings.HasSuffix(name, DeletedSuffix) || strings.HasSuffix(name, CleanedSuffix) || strings.HasSuffix(name, SwapSuffix)
}

// addUnnumbered files a name without an offset in front of its first dot.
func (l *Listing) addUnnumbered(name string) {
	for _, suffix := range []string{
		LogSuffix, IndexSuffix, TimeIndexSuffix, TxnIndexSuffix, SnapshotSuffix, CleanedSuffix, SwapSuffix,
	} {
		if strings.HasSuffix(name, suffix) {
			l.BadNames = append(l.BadNames, name)
			return
		}
	}
	l.Others = append(l.Others, name)
}

func (l *Listing) sort() {
	slices.SortStableFunc(l.Segments, func(a, b Files) int { return compare(a.Base, b.Base) })
	for _, names := range [][]Name{l.Snapshots, l.Leftovers} {
		slices.SortStableFunc(names, func(a, b Name) int { return compare(a.Base, b.Base) })
	}
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// attach gives index files and snapshots to their segments.
func (l *Listing) attach(indexes []Name) {
	for _, n := range indexes {
		f := l.segment(n.Base)
		switch {
		case f == nil:
			l.Orphans = append(l.Orphans, n)
		case n.Suffix == IndexSuffix:
			f.Index = n.Name
		case n.Suffix == TimeIndexSuffix:
			f.TimeIndex = n.Name
		default:
			f.TxnIndex = n.Name
		}
	}
	for _, n := range l.Snapshots {
		if f := l.segment(n.Base); f != nil {
			f.Snapshot = n.Name
		}
	}
}

// segment finds the segment with a base offset.
func (l *Listing) segment(base int64) *Files {
	i, ok := slices.BinarySearchFunc(l.Segments, base, func(f Files, base int64) int { return compare(f.Base, base) })
	if !ok {
		return nil
	}
	return &l.Segments[i]
}
