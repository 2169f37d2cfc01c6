package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"logdir/store/vfs"
)

// Job is a set of changes that one command makes, in this order.
type Job struct {
	Quarantine Quarantine
	Command    string
	Now        time.Time
	Changes    []Change
	// Before is called between the quarantine and the first change; an error stops the
	// job there. It is where a failpoint sits. May be nil.
	Before func() error
}

// Execute keeps every byte that the changes take out, and then makes them.
//
//  1. read the files, write removed.bin and sync it
//  2. write manifest.json, sync it, its folder and the folders above
//  3. write the files that are replaced as a whole beside the old ones, and sync them
//  4. make the changes one after the other, each synced with its directory
//  5. mark the run as applied
//
// Up to the end of step 3 nothing that counts was touched: an error there, such as a full
// disk, takes the run's folder away again. A crash in step 4 leaves each file old or new
// (a file that is changed in place may be between, and undo knows that state too).
//
// It returns the run's id, or "" if there was nothing to do.
func (j Job) Execute(ctx context.Context) (string, error) {
	if len(j.Changes) == 0 {
		return "", nil
	}
	q := j.Quarantine
	if err := j.checkSpace(); err != nil {
		return "", err
	}
	id, err := q.reserve(j.Now)
	if err != nil {
		return "", fmt.Errorf("quarantine: %w", err)
	}
	if err := j.prepare(ctx, id); err != nil {
		return "", errors.Join(fmt.Errorf("nothing was changed: %w", err), j.abandon(id))
	}
	if err := j.apply(ctx); err != nil {
		return id, fmt.Errorf("run %s was not finished (the same command finishes it, undo takes it back): %w", id, err)
	}
	return id, q.mark(id, appliedName)
}

// prepare does all that comes before the first change.
func (j Job) prepare(ctx context.Context, id string) error {
	if err := j.keep(ctx, id); err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	for i := range j.Changes {
		if err := j.stage(&j.Changes[i]); err != nil {
			return err
		}
	}
	if j.Before != nil {
		return j.Before()
	}
	return ctx.Err()
}

// keep writes data file and manifest.
func (j Job) keep(ctx context.Context, id string) error {
	q := j.Quarantine
	dir := filepath.Join(q.Dir, id)
	data, err := q.FS.Create(filepath.Join(dir, dataName))
	if err != nil {
		return err
	}
	k := keeper{fs: q.FS, out: data}
	m := Manifest{Version: manifestVersion, ID: id, Command: j.Command, Time: j.Now.UTC(), Root: q.Root}
	for i := range j.Changes {
		var e Entry
		if e, err = k.entry(&j.Changes[i]); err != nil {
			break
		}
		if err = q.rename(&e); err != nil {
			break
		}
		m.Files = append(m.Files, e)
		if err = ctx.Err(); err != nil {
			break
		}
	}
	if err == nil {
		err = k.flush()
	}
	if err = errors.Join(err, data.Close()); err != nil {
		return err
	}
	// No crash may leave a manifest without the data that it speaks of.
	if err := q.FS.SyncDir(dir); err != nil {
		return err
	}
	return q.publish(&m, dir)
}

// rename makes the paths of an entry relative to the root.
func (q Quarantine) rename(e *Entry) (err error) {
	for i := range e.Staged {
		if e.Staged[i], err = q.relative(e.Staged[i]); err != nil {
			return err
		}
	}
	if e.File, err = q.relative(e.File); err != nil || e.To == "" {
		return err
	}
	e.To, err = q.relative(e.To)
	return err
}

// publish writes the manifest and makes all names down to it survive a power cut.
func (q Quarantine) publish(m *Manifest, dir string) error {
	data, err := m.encode()
	if err != nil {
		return err
	}
	if err := vfs.WriteAtomic(q.FS, filepath.Join(dir, manifestName), data); err != nil {
		return err
	}
	if err := q.FS.SyncDir(q.Dir); err != nil {
		return err
	}
	return q.FS.SyncDir(filepath.Dir(q.Dir))
}

// abandon removes the traces of a run that changed nothing.
func (j Job) abandon(id string) error {
	q := j.Quarantine
	var errs []error
	for i := range j.Changes {
		if j.Changes[i].Kind == Modify || j.Changes[i].Kind == Create {
			errs = append(errs, removeIfThere(q.FS, j.Changes[i].Path+vfs.TempSuffix))
		}
	}
	dir := filepath.Join(q.Dir, id)
	// The manifest goes first: without it the folder means nothing.
	errs = append(errs, removeIfThere(q.FS, filepath.Join(dir, manifestName)), q.FS.SyncDir(dir), vfs.RemoveAll(q.FS, dir))
	return errors.Join(errs...)
}

func removeIfThere(fsys vfs.FS, path string) error {
	if err := fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// apply makes the changes.
func (j Job) apply(ctx context.Context) error {
	for i := range j.Changes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := j.change(&j.Changes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (j Job) change(c *Change) error {
	fsys := j.Quarantine.FS
	if c.Staged != "" {
		return moveFile(fsys, c.StagedAs, c.Path)
	}
	if c.From != nil {
		return moveFile(fsys, c.Path+vfs.TempSuffix, c.Path)
	}
	switch c.Kind {
	case Remove:
		if err := fsys.Remove(c.Path); err != nil {
			return err
		}
		return fsys.SyncDir(filepath.Dir(c.Path))
	case Rename:
		return moveFile(fsys, c.Path, c.To)
	case Create:
		return moveFile(fsys, c.Path+vfs.TempSuffix, c.Path)
	}
	return modify(fsys, c.Path, c.cuts())
}

// moveFile renames a file and syncs the directory.
func moveFile(fsys vfs.FS, from, to string) error {
	if err := fsys.Rename(from, to); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(to))
}
