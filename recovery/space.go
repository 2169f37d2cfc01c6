package recovery

import (
	"errors"
	"fmt"
	"path/filepath"

	"logdir/store"
	"logdir/store/vfs"
)

// checkSpace refuses a job whose quarantine or whose new files do not fit on the disk.
func (j Job) checkSpace() error {
	q := j.Quarantine
	var keep int64
	beside := map[string]int64{}
	for i := range j.Changes {
		removed, written, err := sizes(q.FS, &j.Changes[i])
		if err != nil {
			return err
		}
		keep += removed
		beside[filepath.Dir(j.Changes[i].Path)] += written
	}
	for dir, n := range beside {
		if err := fits(q.FS, dir, n, "the new files", "make room there: files are written anew beside the old ones"); err != nil {
			return err
		}
	}
	where, err := existingParent(q.FS, q.Dir)
	if err != nil {
		return err
	}
	if fits(q.FS, where, keep+manifestSlack, "", "") == nil {
		return nil
	}
	// Zeros take no room: look how many of the bytes are.
	if keep, err = j.withoutZeros(); err != nil {
		return err
	}
	return fits(q.FS, where, keep+manifestSlack, "the quarantine", "make room, or name another place with --quarantine DIR")
}

// withoutZeros is how many bytes go to the quarantine.
func (j Job) withoutZeros() (int64, error) {
	k := keeper{fs: j.Quarantine.FS}
	for i := range j.Changes {
		if err := k.count(&j.Changes[i]); err != nil {
			return 0, err
		}
	}
	return k.pos, nil
}

// count reads what a change takes out, and writes nothing.
func (k *keeper) count(c *Change) error {
	f, size, err := openBefore(k.fs, c)
	if f == nil {
		return err
	}
	for _, cut := range c.taken(size) {
		if _, err = fragments(assembly{}.keep(f, cut.pos, cut.pos+cut.size), func(p []byte) (int64, error) {
			k.pos += int64(len(p))
			return 0, nil
		}); err != nil {
			break
		}
	}
	return errors.Join(err, f.Close())
}

// manifestSlack is room for the manifest, in bytes.
const manifestSlack = 64 << 10

func fits(fsys vfs.FS, dir string, need int64, what, hint string) error {
	free, err := fsys.FreeSpace(dir)
	if err != nil {
		return fmt.Errorf("free space of %s: %w", dir, err)
	}
	if need > free {
		return store.Errorf(store.Failed, "KAFKA_STORAGE_ERROR",
			"%s: no room for %s: it needs %d bytes, %d are free; nothing was changed", dir, what, need, free).
			WithHint("%s", hint)
	}
	return nil
}

// existingParent is the nearest directory at or above dir that is there.
func existingParent(fsys vfs.FS, dir string) (string, error) {
	for {
		there, err := vfs.Exists(fsys, dir)
		if there || err != nil {
			return dir, err
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dir, nil
		}
		dir = up
	}
}

// taken are the cuts that a change makes in a file of size bytes.
func (c *Change) taken(size int64) []cut {
	if c.Kind == Remove || c.comesWhole() {
		return []cut{{size: size}}
	}
	return c.cuts()
}

// sizes tells how many bytes a change takes out, and how many are written beside the old
// file.
func sizes(fsys vfs.FS, c *Change) (removed, written int64, err error) {
	f, size, err := openBefore(fsys, c)
	if c.From != nil {
		written = c.From.Size
	}
	if f == nil {
		return 0, written + int64(len(c.Data)), err
	}
	cuts := c.taken(size)
	for _, cut := range cuts {
		removed += cut.size
	}
	if c.Kind == Modify && !c.comesWhole() && !inPlace(cuts, size) {
		written = size + grow(cuts)
	}
	return removed, written, f.Close()
}
