package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"logdir/store"
	"logdir/store/vfs"
)

// reversal is what undo does with one entry of a manifest.
type reversal struct {
	*Entry
	path, to string
	cuts     []cut // Modify: the cuts that lead back
	done     bool  // the file is as it was before the run already
}

// Undoing is a run about to be taken back: checked, but nothing written yet.
type Undoing struct {
	Run   Run
	q     Quarantine
	data  vfs.ReadFile
	steps []reversal
	// freed are the paths that the steps so far leave empty for the next ones.
	freed map[string]bool
}

// PrepareUndo opens a run and checks that every file is as the run left it, and that the
// kept bytes give exactly the old files. It changes nothing. Close it in the end.
//
// A file of an interrupted run, or of an interrupted undo, may also be as it was before,
// or between: whatever it is, the kept bytes must lead back to the old checksum.
func (q Quarantine) PrepareUndo(ctx context.Context, r Run) (*Undoing, error) {
	data, err := q.FS.Open(filepath.Join(q.Dir, r.ID, dataName))
	if err != nil {
		return nil, err
	}
	u := &Undoing{Run: r, q: q, data: data, freed: map[string]bool{}}
	for i := range slices.Backward(r.Files) {
		if err = ctx.Err(); err != nil {
			break
		}
		var step reversal
		if step, err = u.plan(&r.Files[i]); err != nil {
			break
		}
		u.steps = append(u.steps, step)
	}
	if err != nil {
		return nil, errors.Join(err, data.Close())
	}
	return u, nil
}

// Close releases the kept bytes.
func (u *Undoing) Close() error { return u.data.Close() }

// Apply takes the run back. A crash leaves a state that the same undo finishes.
func (u *Undoing) Apply(ctx context.Context) error {
	if err := u.q.mark(u.Run.ID, undoingName); err != nil {
		return err
	}
	for i := range u.steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := u.take(&u.steps[i]); err != nil {
			return fmt.Errorf("undo %s is not finished (the same command goes on with it): %w", u.Run.ID, err)
		}
	}
	if err := u.unstage(); err != nil {
		return err
	}
	return u.q.mark(u.Run.ID, undoneName)
}

// unstage removes the files that an interrupted run, or undo, has written beside the old ones.
func (u *Undoing) unstage() error {
	if !u.between() {
		return nil
	}
	for _, s := range u.steps {
		tmp := s.path + vfs.TempSuffix
		there, err := vfs.Exists(u.q.FS, tmp)
		if err != nil {
			return err
		}
		if !there || s.Kind != Modify && s.Kind != Create {
			continue
		}
		if err := u.q.FS.Remove(tmp); err != nil {
			return err
		}
		if err := u.q.FS.SyncDir(filepath.Dir(tmp)); err != nil {
			return err
		}
	}
	return nil
}

// plan finds out how an entry is taken back, and refuses when it cannot be.
func (u *Undoing) plan(e *Entry) (reversal, error) {
	step := reversal{Entry: e, path: u.q.path(e.File)}
	if e.To != "" {
		step.to = u.q.path(e.To)
	}
	var err error
	switch e.Kind {
	case Modify:
		err = u.planModify(&step)
	case Create:
		err = u.planCreate(&step)
	case Remove:
		err = u.planRemove(&step)
	case Rename:
		err = u.planRename(&step)
	default:
		err = fmt.Errorf("manifest %s: unknown kind %q", u.Run.ID, e.Kind)
	}
	return step, err
}

// changed refuses: the file is not as the run left it.
func (u *Undoing) changed(path, why string) error {
	return store.Errorf(store.Refused, "INVALID_REQUEST", "%s: %s since run %s; nothing was undone", path, why, u.Run.ID).
		WithHint("the old bytes stay in %s", filepath.Join(u.q.Dir, u.Run.ID))
}

// between says whether files may be in a state that is neither old nor new.
func (u *Undoing) between() bool { return !u.Run.Finished || u.Run.Undoing }

func (u *Undoing) planModify(s *reversal) error {
	f, err := u.q.FS.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return u.changed(s.path, "removed")
	}
	if err != nil {
		return err
	}
	err = u.compare(s, f)
	return errors.Join(err, f.Close())
}

func (u *Undoing) compare(s *reversal, f vfs.ReadFile) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	now, err := stateOf(assembly{}.keep(f, 0, size), info.ModTime())
	if err != nil {
		return err
	}
	after := now.same(s.After)
	if now.same(s.Before) && !after {
		s.done = now.Mtime.Equal(s.Before.Mtime)
		return nil
	}
	if !after && !u.between() {
		return u.changed(s.path, "changed")
	}
	if s.cuts, err = u.backward(s.Entry, size, after); err != nil {
		return err
	}
	back, err := splice(f, size, s.cuts).sha256()
	if err != nil && !after {
		return u.changed(s.path, "changed")
	}
	if err == nil && back != s.Before.SHA256 {
		err = u.changed(s.path, "the kept bytes do not lead back: changed")
	}
	return err
}

func (s *State) same(o *State) bool {
	return s != nil && o != nil && s.Size == o.Size && s.SHA256 == o.SHA256
}

// backward are the cuts that turn the new file, of size bytes, into the old one. A file
// that is between has the layout of the new one up to its last range, which then reaches
// from there to its end.
func (u *Undoing) backward(e *Entry, size int64, after bool) ([]cut, error) {
	var out []cut
	var shift int64
	for _, r := range e.Ranges {
		out = append(out, cut{pos: r.Pos + shift, size: r.NewSize, new: u.kept(r.Fragments)})
		shift += r.NewSize - r.Size
	}
	if n := len(out); n > 0 && !after {
		last := &out[n-1]
		if last.pos > size {
			return nil, u.changed(e.File, "cut")
		}
		if last.size != e.Ranges[n-1].Size {
			last.size = size - last.pos
		}
	}
	return out, nil
}

// kept is a run of old bytes out of the quarantine.
func (u *Undoing) kept(fragments []Fragment) assembly {
	var out assembly
	for _, f := range fragments {
		p := part{size: f.Size}
		if !f.Zeros {
			p.src, p.pos = u.data, f.Pos
		}
		out = append(out, p)
	}
	return out
}

// planCreate: the file that was made must be as it was made, or be gone already.
func (u *Undoing) planCreate(s *reversal) error {
	u.freed[s.path] = true
	now, err := u.state(s.path)
	switch {
	case err != nil:
		return err
	case now == nil:
		s.done = true
	case !now.same(s.After):
		return u.changed(s.path, "changed")
	}
	return nil
}

// planRemove: nothing may have taken the place of the file that was removed.
func (u *Undoing) planRemove(s *reversal) error {
	now, err := u.state(s.path)
	if err != nil {
		return err
	}
	if now != nil && !u.freed[s.path] {
		if !now.same(s.Before) {
			return u.changed(s.path, "made again")
		}
		s.done = now.Mtime.Equal(s.Before.Mtime)
		return nil
	}
	s.cuts = []cut{{new: u.keptFile(s.Entry)}}
	sum, err := s.cuts[0].new.sha256()
	if err == nil && sum != s.Before.SHA256 {
		err = fmt.Errorf("%s: kept bytes have sha256 %s, want %s", s.path, hexSum(sum), hexSum(s.Before.SHA256))
	}
	return err
}

func (u *Undoing) keptFile(e *Entry) assembly {
	var out assembly
	for _, r := range e.Ranges {
		out = append(out, u.kept(r.Fragments)...)
	}
	return out
}

func (u *Undoing) planRename(s *reversal) error {
	from, err := u.state(s.path)
	if err != nil {
		return err
	}
	to, err := u.state(s.to)
	if err != nil {
		return err
	}
	u.freed[s.to] = true
	switch {
	case from.same(s.Before) && (to == nil || u.between()):
		s.done = true
	case from != nil:
		return u.changed(s.path, "made again")
	case !to.same(s.After):
		return u.changed(s.to, "changed")
	}
	return nil
}

// state is what a file looks like now; nil if it is not there.
func (u *Undoing) state(path string) (*State, error) {
	s, err := stateAt(u.q.FS, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return s, err
}

// take makes one step back.
func (u *Undoing) take(s *reversal) error {
	fsys := u.q.FS
	for _, name := range s.Staged {
		if err := removeIfThere(fsys, u.q.path(name)); err != nil {
			return err
		}
	}
	if s.done {
		return nil
	}
	switch s.Kind {
	case Create:
		if err := fsys.Remove(s.path); err != nil {
			return err
		}
		return fsys.SyncDir(filepath.Dir(s.path))
	case Rename:
		return moveFile(fsys, s.to, s.path)
	case Remove:
		if len(s.cuts) > 0 {
			return u.replace(s.path, s.cuts[0].new, s.Before.Mtime)
		}
	}
	return u.restore(s)
}

// restore puts the old bytes of a changed file back, and its modification time.
func (u *Undoing) restore(s *reversal) error {
	fsys := u.q.FS
	if len(s.cuts) == 0 { // its bytes are back already
		return fsys.Chtimes(s.path, s.Before.Mtime)
	}
	f, err := fsys.OpenRW(s.path)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if !inPlace(s.cuts, info.Size()) {
		err := u.replace(s.path, splice(f, info.Size(), s.cuts), s.Before.Mtime)
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(cutInPlace(f, info.Size(), s.cuts), f.Close()); err != nil {
		return err
	}
	return fsys.Chtimes(s.path, s.Before.Mtime)
}

// replace writes a file beside its place and moves it there.
func (u *Undoing) replace(path string, a assembly, mtime time.Time) error {
	tmp := path + vfs.TempSuffix
	if err := writeFile(u.q.FS, tmp, a, mtime); err != nil {
		return err
	}
	return moveFile(u.q.FS, tmp, path)
}

// UndoRow is one file of an undo, as it is listed.
type UndoRow struct {
	ID, Command, File, Action string
	Bytes                     int64
}

// Rows lists the files in the order in which they are put back.
func (u *Undoing) Rows(dryRun bool) []UndoRow {
	rows := make([]UndoRow, len(u.steps))
	for i, s := range u.steps {
		rows[i] = UndoRow{u.Run.ID, u.Run.Command, s.File, s.words(dryRun), s.Bytes()}
	}
	return rows
}

func (s *reversal) words(dryRun bool) string {
	verb := map[Kind]string{Modify: "restored", Remove: "put back", Create: "removed", Rename: "renamed back"}[s.Kind]
	if dryRun {
		return "would be " + verb
	}
	return verb
}

// Rows lists the files that a run changed, in its order.
func (r *Run) Rows() []UndoRow {
	rows := make([]UndoRow, len(r.Files))
	for i := range r.Files {
		e := &r.Files[i]
		rows[i] = UndoRow{r.ID, r.Command, e.File, e.Action, e.Bytes()}
	}
	return rows
}
