package recovery

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"logdir/store"
	"logdir/store/vfs"
)

// openBefore opens the file that a change works on; nil for one that is made.
func openBefore(fsys vfs.FS, c *Change) (vfs.ReadFile, int64, error) {
	if c.Kind == Create {
		there, err := vfs.Exists(fsys, c.Path)
		if err == nil && there {
			err = fmt.Errorf("%s: %w", c.Path, fs.ErrExist)
		}
		return nil, 0, err
	}
	f, err := fsys.Open(c.Path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// keeper copies old bytes into the data file and describes changes for the manifest.
type keeper struct {
	fs  vfs.FS
	out vfs.File
	pos int64 // bytes written and buffered so far
	buf []byte
}

func (k *keeper) entry(c *Change) (Entry, error) {
	e := Entry{File: c.Path, To: c.To, Kind: c.Kind, Action: c.Action, Reason: c.Reason}
	f, size, err := openBefore(k.fs, c)
	if err != nil {
		return e, err
	}
	if c.comesWhole() {
		err = k.describeWhole(&e, c, f, size)
		if f != nil {
			err = errors.Join(err, f.Close())
		}
		return e, err
	}
	if f == nil {
		after := literal(c.Data)
		e.After, err = stateOf(after, time.Time{})
		return e, err
	}
	err = k.describe(&e, c, f, size)
	return e, errors.Join(err, f.Close())
}

func (k *keeper) describe(e *Entry, c *Change, f vfs.ReadFile, size int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	whole := assembly{}.keep(f, 0, size)
	if e.Before, err = stateOf(whole, info.ModTime()); err != nil {
		return err
	}
	switch c.Kind {
	case Rename:
		e.After = e.Before
		return nil
	case Remove:
		e.Ranges, err = k.ranges(f, []Edit{{Size: size, Reason: c.Reason}})
		return err
	}
	if err := checkEdits(c, size); err != nil {
		return err
	}
	if e.Ranges, err = k.ranges(f, c.Edits); err != nil {
		return err
	}
	e.After, err = stateOf(splice(f, size, c.cuts()), info.ModTime())
	return err
}

// describeWhole is describe for a file whose new content stands in another one. f is nil
// if there is no old one.
func (k *keeper) describeWhole(e *Entry, c *Change, f vfs.ReadFile, size int64) (err error) {
	if c.From != nil {
		e.After, err = c.From.state(k.fs)
	} else {
		e.Staged = []string{c.Staged, c.StagedAs}
		e.After, err = stateAt(k.fs, c.Staged)
	}
	if err != nil || f == nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if e.Before, err = stateOf(assembly{}.keep(f, 0, size), info.ModTime()); err != nil {
		return err
	}
	if e.Ranges, err = k.ranges(f, []Edit{{Size: size, Reason: c.Reason}}); err == nil {
		e.Ranges[0].NewSize = e.After.Size
	}
	return err
}

// stateAt is what a file looks like.
func stateAt(fsys vfs.ReadFS, path string) (s *State, err error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return stateOf(assembly{}.keep(f, 0, info.Size()), info.ModTime())
}

// checkEdits holds a plan to the file as it is now: a file that became shorter since it
// was looked at is in use.
func checkEdits(c *Change, size int64) error {
	var end int64
	for _, e := range c.Edits {
		if e.Pos < end || e.Pos+e.Size > size {
			return store.Errorf(store.Busy, "KAFKA_STORAGE_ERROR", "%s: changed while it was looked at: it is in use", c.Path)
		}
		end = e.Pos + e.Size
	}
	return nil
}

func stateOf(a assembly, mtime time.Time) (*State, error) {
	sum, err := a.sha256()
	return &State{Size: a.Size(), SHA256: sum, Mtime: mtime.UTC()}, err
}

func (k *keeper) ranges(f vfs.ReadFile, edits []Edit) ([]Range, error) {
	var out []Range
	for _, e := range edits {
		r := Range{Pos: e.Pos, Size: e.Size, NewSize: int64(len(e.New)), Reason: e.Reason, Held: e.Held}
		var err error
		if r.Fragments, err = fragments(assembly{}.keep(f, e.Pos, e.Pos+e.Size), k.write); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// write keeps p and answers where.
func (k *keeper) write(p []byte) (int64, error) {
	at := k.pos
	k.buf = append(k.buf, p...)
	k.pos += int64(len(p))
	if len(k.buf) < chunkSize {
		return at, nil
	}
	return at, k.spill()
}

func (k *keeper) spill() error {
	_, err := k.out.WriteAt(k.buf, k.pos-int64(len(k.buf)))
	k.buf = k.buf[:0]
	return err
}

func (k *keeper) flush() error {
	if err := k.spill(); err != nil {
		return err
	}
	return k.out.Sync()
}
