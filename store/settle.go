package store

import (
	"path/filepath"
	"strings"

	"logdir/store/segment"
	"logdir/store/vfs"
)

// Settle does what a broker does when it starts on a compaction that was interrupted: what is
// not finished goes, what is finished is moved in place. Where there was nothing when the log
// was opened it does not look.
//
//	step                                        a crash leaves
//	1  finished segments above unfinished ones  the unfinished ones, which keep the others from
//	   removed, synced                          counting
//	2  unfinished segments removed, synced      some of them
//	3  what the finished ones replace removed,  finished ones, which readers take already
//	   synced
//	4  the finished ones renamed, synced        indexes without their log, to be renamed
func (l *Log) Settle() error {
	if !l.leftovers {
		return nil
	}
	if err := settle(l.fs, l.dir); err != nil {
		return err
	}
	l.leftovers = false
	return l.relist()
}

// Unsettled says that a compaction of the log stopped half-way: the next Settle looks.
func (l *Log) Unsettled() { l.leftovers = true }

// settle does so in a partition directory.
func settle(fsys vfs.FS, dir string) error {
	if err := sweep(fsys, dir); err != nil {
		return err
	}
	list, err := segment.List(fsys, dir)
	if err != nil {
		return err
	}
	if err := removeReplaced(fsys, dir, list); err != nil {
		return err
	}
	for _, n := range list.Leftovers {
		plain, ok := strings.CutSuffix(n.Name, segment.SwapSuffix)
		if !ok {
			continue
		}
		if err := fsys.Rename(filepath.Join(dir, n.Name), filepath.Join(dir, plain)); err != nil {
			return err
		}
	}
	return fsys.SyncDir(dir)
}

// sweep removes what a compaction did not finish.
func sweep(fsys vfs.FS, dir string) error {
	list, err := segment.List(fsys, dir)
	if err != nil {
		return err
	}
	unfinished := firstUnfinished(list)
	err = removeIf(fsys, dir, list.Leftovers, func(n segment.Name) bool {
		return strings.HasSuffix(n.Name, segment.SwapSuffix) && n.Base >= unfinished
	})
	if err != nil {
		return err
	}
	return removeIf(fsys, dir, list.Leftovers, func(n segment.Name) bool {
		return strings.HasSuffix(n.Name, segment.CleanedSuffix) || strings.HasSuffix(n.Name, segment.DeletedSuffix)
	})
}

// removeReplaced removes the files of all segments for which finished ones stand.
func removeReplaced(fsys vfs.FS, dir string, list segment.Listing) error {
	swaps := pendingSwaps(list)
	if len(swaps) == 0 {
		return nil
	}
	end, err := swapEnd(fsys, dir, swaps[len(swaps)-1])
	if err != nil {
		return err
	}
	return removeIf(fsys, dir, plainNames(list), func(n segment.Name) bool { return n.Base >= swaps[0] && n.Base < end })
}

// plainNames are the files of segments, whole or not.
func plainNames(list segment.Listing) []segment.Name {
	names := append(append([]segment.Name{}, list.Orphans...), list.Snapshots...)
	for _, s := range list.Segments {
		for _, name := range []string{s.Log, s.Index, s.TimeIndex, s.TxnIndex} {
			if name != "" {
				names = append(names, segment.Name{Name: name, Base: s.Base})
			}
		}
	}
	return names
}

// removeIf removes some of the files and syncs that.
func removeIf(fsys vfs.FS, dir string, names []segment.Name, doomed func(segment.Name) bool) error {
	any := false
	for _, n := range names {
		if !doomed(n) {
			continue
		}
		any = true
		if err := fsys.Remove(filepath.Join(dir, n.Name)); err != nil {
			return err
		}
	}
	if !any {
		return nil
	}
	return fsys.SyncDir(dir)
}
