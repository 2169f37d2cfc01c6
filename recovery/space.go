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
		removed, written, err := measure(q.FS, &j.Changes[i])
		if err != nil {
			return err
		}
		keep += removed
		dir := filepath.Dir(j.Changes[i].Path)
		beside[dir] = max(beside[dir], 0) + written
	}
	where, err := existingParent(q.FS, q.Dir)
	if err != nil {
		return err
	}
	if err := fits(q.FS, where, keep+manifestSlack, "the quarantine"); err != nil {
		return err
	}
	for dir, n := range beside {
		if err := fits(q.FS, dir, n, "the new files"); err != nil {
			return err
		}
	}
	return nil
}

// manifestSlack is room for the manifest, in bytes.
const manifestSlack = 64 << 10

func fits(fsys vfs.FS, dir string, need int64, what string) error {
	free, err := fsys.FreeSpace(dir)
	if err != nil {
		return fmt.Errorf("free space of %s: %w", dir, err)
	}
	if need > free {
		return store.Errorf(store.Failed, "KAFKA_STORAGE_ERROR",
			"%s: no room for %s: it needs %d bytes, %d are free; nothing was changed", dir, what, need, free).
			WithHint("make room, or name another place with --quarantine DIR")
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

// measure tells how many bytes of a change go to the quarantine, and how many are written
// beside the old file.
func measure(fsys vfs.FS, c *Change) (removed, written int64, err error) {
	f, size, err := openBefore(fsys, c)
	if f == nil {
		return 0, int64(len(c.Data)), err
	}
	cuts := c.cuts()
	if c.Kind == Remove {
		cuts = []cut{{size: size}}
	}
	for _, cut := range cuts {
		old := assembly{}.keep(f, cut.pos, cut.pos+cut.size)
		_, err = fragments(old, func(p []byte) (int64, error) {
			removed += int64(len(p))
			return 0, nil
		})
		if err != nil {
			break
		}
	}
	if c.Kind == Modify && !inPlace(cuts, size) {
		written = size + grow(cuts)
	}
	return removed, written, errors.Join(err, f.Close())
}
