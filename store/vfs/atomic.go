package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

// TempSuffix marks a file that is being written, as Kafka's checkpoint writer does.
const TempSuffix = ".tmp"

// copyChunk is how many bytes one read of CopyFile takes.
const copyChunk = 1 << 20

// WriteAtomic replaces the file name by data so that a crash leaves the old file or
// the new one: write name.tmp, sync it, rename it, sync the directory.
func WriteAtomic(fsys FS, name string, data []byte) error {
	tmp := name + TempSuffix
	if err := writeSynced(fsys, tmp, data); err != nil {
		return fmt.Errorf("write %s: %w", tmp, err)
	}
	if err := fsys.Rename(tmp, name); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(name))
}

// writeSynced makes name hold exactly data, whatever an earlier crash left there.
func writeSynced(fsys FS, name string, data []byte) error {
	f, err := fsys.OpenCreate(name)
	if err != nil {
		return err
	}
	return errors.Join(fill(f, data), f.Close())
}

func fill(f File, data []byte) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	return f.Sync()
}

// ReadAll reads a whole file of at most limit bytes; a larger one is an error, and is
// not read.
func ReadAll(fsys ReadFS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := readBounded(f, limit)
	if err != nil {
		err = fmt.Errorf("read %s: %w", name, err)
	}
	return data, errors.Join(err, f.Close())
}

func readBounded(f ReadFile, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%d bytes, more than the %d that such a file may have", info.Size(), limit)
	}
	data := make([]byte, info.Size())
	n, err := f.ReadAt(data, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return data[:n], err
}

// Size is the size of a file in bytes.
func Size(fsys ReadFS, name string) (int64, error) {
	info, err := fsys.Stat(name)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Exists tells whether name is there.
func Exists(fsys ReadFS, name string) (bool, error) {
	_, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// CopyFile copies a file, syncs the copy and gives it the modification time of the
// original. The new entry of the target directory is not yet synced.
func CopyFile(src ReadFS, from string, dst FS, to string) error {
	in, err := src.Open(from)
	if err != nil {
		return err
	}
	out, err := dst.OpenCreate(to)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	err = errors.Join(copyBytes(out, in), out.Close())
	if err == nil {
		err = copyMtime(in, dst, to)
	}
	if err != nil {
		err = fmt.Errorf("copy %s to %s: %w", from, to, err)
	}
	return errors.Join(err, in.Close())
}

func copyBytes(out File, in ReadFile) error {
	if err := out.Truncate(0); err != nil {
		return err
	}
	buf := make([]byte, copyChunk)
	for pos := int64(0); ; {
		n, err := in.ReadAt(buf, pos)
		if n > 0 {
			if _, werr := out.WriteAt(buf[:n], pos); werr != nil {
				return werr
			}
			pos += int64(n)
		}
		if errors.Is(err, io.EOF) {
			return out.Sync()
		}
		if err != nil {
			return err
		}
	}
}

func copyMtime(in ReadFile, dst FS, to string) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	return dst.Chtimes(to, info.ModTime())
}

// RemoveAll deletes a file or a directory with all it holds; nothing there is no error.
func RemoveAll(fsys FS, name string) error {
	info, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		if err := removeEntries(fsys, name); err != nil {
			return err
		}
	}
	return fsys.Remove(name)
}

func removeEntries(fsys FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
			err = RemoveAll(fsys, path)
		} else {
			err = fsys.Remove(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
