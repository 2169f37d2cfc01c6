package cleaner

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"logdir/store/segment"
)

// Move is one step of putting the new segments in place: a file that goes, or one that
// takes its name.
type Move struct {
	// Path is the file that is removed, replaced or made.
	Path string
	// Cleaned is where its new content is before Promote, Swap where it is behind; both are
	// empty for a file that is removed.
	Cleaned, Swap string
}

// Moves are the steps, in their order: the segments that were joined to others go, then
// each new segment's indexes are moved in place, then its log: as long as that waits, everybody
// sees that the others belong to it.
func (r *Result) Moves() []Move {
	var moves []Move
	for _, g := range slices.Backward(r.sources) {
		if !r.isOutput(g.base) {
			for _, suffix := range []string{segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix, segment.TxnIndexSuffix, segment.SnapshotSuffix} {
				moves = append(moves, Move{Path: r.path(g.base, suffix)})
			}
		}
	}
	for _, out := range r.outputs {
		if len(out.aborted) == 0 {
			moves = append(moves, Move{Path: r.path(out.base, segment.TxnIndexSuffix)})
		}
		for _, suffix := range out.suffixes() {
			moves = append(moves, Move{
				Path: r.path(out.base, suffix), Cleaned: out.cleaned(suffix), Swap: r.path(out.base, suffix+segment.SwapSuffix),
			})
		}
	}
	return moves
}

func (r *Result) isOutput(base int64) bool {
	return slices.ContainsFunc(r.outputs, func(out *output) bool { return out.base == base })
}

func (r *Result) path(base int64, suffix string) string {
	return filepath.Join(r.dir, segment.FileName(base, suffix))
}

// Promote turns the .cleaned files into .swap files, which a broker that starts moves in
// place. The highest segment comes first: as long as one .cleaned is left, all that
// stands above it is thrown away.
func (r *Result) Promote() error {
	for _, out := range slices.Backward(r.outputs) {
		for _, suffix := range out.suffixes() {
			if err := r.fs.Rename(out.cleaned(suffix), r.path(out.base, suffix+segment.SwapSuffix)); err != nil {
				return err
			}
		}
		if err := r.fs.SyncDir(r.dir); err != nil {
			return err
		}
	}
	return nil
}

// Install puts the result in place for good: Promote, and then the moves. The old bytes are
// gone then; what is interrupted, store.Log.Settle ends.
func (r *Result) Install() error {
	if err := r.Promote(); err != nil {
		return err
	}
	moves := r.Moves()
	renames := slices.IndexFunc(moves, func(m Move) bool { return m.Swap != "" })
	for i, m := range moves {
		if i == renames { // from here on nobody can tell any more what was joined
			if err := r.fs.SyncDir(r.dir); err != nil {
				return err
			}
		}
		if err := r.move(m); err != nil {
			return err
		}
	}
	return r.fs.SyncDir(r.dir)
}

func (r *Result) move(m Move) error {
	if m.Swap != "" {
		return r.fs.Rename(m.Swap, m.Path)
	}
	err := r.fs.Remove(m.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Discard removes what the pass wrote, if it was not moved in place.
func (r *Result) Discard() error {
	var errs []error
	for _, out := range r.outputs {
		errs = append(errs, out.close())
		if out.fs == nil {
			continue
		}
		for _, suffix := range []string{segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix, segment.TxnIndexSuffix} {
			for _, name := range []string{r.path(out.base, suffix+segment.SwapSuffix), out.cleaned(suffix)} {
				if err := r.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
					errs = append(errs, err)
				}
			}
		}
	}
	return errors.Join(errs...)
}

// Unchanged tells whether the segments that the pass read are still as they were, and no
// others stand between them. The caller asks under the partition's lock, which the pass
// itself does without.
func (r *Result) Unchanged() (bool, error) {
	list, err := segment.List(r.fs, r.dir)
	if err != nil || len(list.Segments) < len(r.sources) {
		return false, err
	}
	for i, g := range r.sources {
		size, mtime, err := measure(r.fs, r.path(g.base, segment.LogSuffix))
		if err != nil {
			return false, err
		}
		if list.Segments[i].Base != g.base || size != g.size || !mtime.Equal(g.mtime) {
			return false, nil
		}
	}
	return true, nil
}
