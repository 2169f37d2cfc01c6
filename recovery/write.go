package recovery

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"logdir/store/vfs"
)

// stage writes a file that is replaced as a whole beside the old one.
func (j Job) stage(c *Change) error {
	fsys := j.Quarantine.FS
	switch {
	case c.Staged != "":
		return nil
	case c.From != nil:
		return c.From.stage(fsys, c.Path)
	}
	switch c.Kind {
	case Create:
		return writeFile(fsys, c.Path+vfs.TempSuffix, literal(c.Data), time.Time{})
	case Modify:
	default:
		return nil
	}
	f, size, err := openBefore(fsys, c)
	if err != nil {
		return err
	}
	if cuts := c.cuts(); !inPlace(cuts, size) {
		mtime, merr := mtimeFor(f, c.Path)
		err = errors.Join(merr, writeFile(fsys, c.Path+vfs.TempSuffix, splice(f, size, cuts), mtime))
	}
	return errors.Join(err, f.Close())
}

// stage writes the extract beside the file that it will be. A log takes the modification
// time of the one that it comes from.
func (x *Extract) stage(fsys vfs.FS, path string) error {
	f, err := fsys.Open(x.Path)
	if err != nil {
		return err
	}
	mtime, err := mtimeFor(f, path)
	if err == nil {
		err = writeFile(fsys, path+vfs.TempSuffix, x.of(f), mtime)
	}
	return errors.Join(err, f.Close())
}

// of is the extract of the opened file.
func (x *Extract) of(f vfs.ReadFile) assembly { return assembly{}.keep(f, x.Pos, x.Pos+x.Size) }

// state is what the extract will look like as a file.
func (x *Extract) state(fsys vfs.ReadFS) (*State, error) {
	f, err := fsys.Open(x.Path)
	if err != nil {
		return nil, err
	}
	s, err := stateOf(x.of(f), time.Time{})
	return s, errors.Join(err, f.Close())
}

// mtimeFor is the modification time that a changed file keeps. A log keeps its own, since
// retention by time falls back on it; other files take the time of the change.
func mtimeFor(f vfs.ReadFile, path string) (time.Time, error) {
	if !strings.HasSuffix(path, ".log") {
		return time.Time{}, nil
	}
	info, err := f.Stat()
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// writeFile makes path hold exactly a, synced. A zero mtime leaves the file's own.
func writeFile(fsys vfs.FS, path string, a assembly, mtime time.Time) error {
	f, err := fsys.OpenCreate(path)
	if err != nil {
		return err
	}
	err = f.Truncate(0)
	if err == nil {
		err = fill(f, 0, a)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil || mtime.IsZero() {
		return err
	}
	return fsys.Chtimes(path, mtime)
}

// fill writes a at pos, which is the end of the file or beyond. Zeros are not written:
// the file is only made longer, so that they take no room.
func fill(f vfs.File, pos int64, a assembly) error {
	if err := f.Truncate(pos + a.Size()); err != nil {
		return err
	}
	for _, p := range a {
		if p.src != nil {
			if err := write(f, pos, assembly{p}); err != nil {
				return err
			}
		}
		pos += p.size
	}
	return nil
}

func write(f vfs.File, at int64, a assembly) error {
	return a.each(func(pos int64, p []byte) error {
		_, err := f.WriteAt(p, at+pos)
		return err
	})
}

// modify makes cuts in place, or moves the staged file over the old one.
func modify(fsys vfs.FS, path string, cuts []cut) error {
	f, err := fsys.OpenRW(path)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if !inPlace(cuts, info.Size()) {
		if err := f.Close(); err != nil {
			return err
		}
		return moveFile(fsys, path+vfs.TempSuffix, path)
	}
	mtime, err := mtimeFor(f, path)
	if err == nil {
		err = cutInPlace(f, info.Size(), cuts)
	}
	if err = errors.Join(err, f.Close()); err != nil || mtime.IsZero() {
		return err
	}
	return fsys.Chtimes(path, mtime)
}

// cutInPlace makes the cuts that inPlace allows, and syncs the file.
func cutInPlace(f vfs.File, size int64, cuts []cut) error {
	for _, c := range slices.Backward(cuts) {
		var err error
		switch {
		case c.new.Size() == c.size:
			err = write(f, c.pos, c.new)
		case c.new.Size() == 0:
			err = f.Truncate(c.pos)
		default:
			err = replaceTail(f, c, size)
		}
		if err != nil {
			return err
		}
	}
	return f.Sync()
}

func replaceTail(f vfs.File, c cut, size int64) error {
	if c.size > 0 {
		if err := f.Truncate(c.pos); err != nil {
			return err
		}
		size = c.pos
	}
	return fill(f, size, c.new)
}

// hexSum shortens a checksum for messages.
func hexSum(s string) string {
	if _, err := hex.DecodeString(s); err != nil || len(s) < 12 {
		return s
	}
	return s[:12]
}
