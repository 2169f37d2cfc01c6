package startup

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"logdir/store/vfs"
)

// The suffixes that the loader looks at, beside those of the files themselves.
const (
	deletedSuffix = ".deleted"
	cleanedSuffix = ".cleaned"
	swapSuffix    = ".swap"
	logSuffix     = ".log"
	indexSuffix   = ".index"
	timeSuffix    = ".timeindex"
	txnSuffix     = ".txnindex"
	snapSuffix    = ".snapshot"
)

// File is one file as the broker leaves it.
type File struct {
	// Name is its name in the partition directory.
	Name string
	// Origin is the name of the file on disk that its bytes come from; "" if the broker
	// writes it.
	Origin string
	// Start and Size are in bytes: of a file with an Origin, which of its bytes are left.
	Start, Size int64
	// Data is what the broker writes; nil with an Origin, and for a file of zeros.
	Data []byte
}

// directory is the picture of a partition directory.
type directory struct {
	fs    vfs.ReadFS
	path  string
	files map[string]*File

	snaps []int64 // offsets of the .snapshot files, ascending; nil = look again
}

func readDirectory(fsys vfs.ReadFS, path string) (*directory, error) {
	entries, err := fsys.ReadDir(path)
	if err != nil {
		return nil, err
	}
	d := &directory{fs: fsys, path: path, files: map[string]*File{}}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		d.files[e.Name()] = &File{Name: e.Name(), Origin: e.Name(), Size: info.Size()}
	}
	return d, nil
}

// names are the files in the order of their names.
func (d *directory) names() []string {
	names := make([]string, 0, len(d.files))
	for n := range d.files {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func (d *directory) has(name string) bool { return d.files[name] != nil }

func (d *directory) remove(name string) {
	delete(d.files, name)
	d.forgetSnapshots(name)
}

func (d *directory) rename(from, to string) {
	f := d.files[from]
	delete(d.files, from)
	f.Name = to
	d.files[to] = f
	d.forgetSnapshots(from)
	d.forgetSnapshots(to)
}

func (d *directory) write(name string, data []byte) {
	d.files[name] = &File{Name: name, Size: int64(len(data)), Data: data}
	d.forgetSnapshots(name)
}

// writeSnapshot writes the snapshot of an offset. Each segment that is recovered gets one,
// so the list of them is carried along.
func (d *directory) writeSnapshot(offset int64, data []byte) {
	known := d.snaps
	d.write(fileName(offset, snapSuffix), data)
	if known != nil {
		d.snaps = insertOffset(known, offset)
	}
}

// removeSnapshot is writeSnapshot's counterpart.
func (d *directory) removeSnapshot(offset int64) {
	known := d.snaps
	d.remove(fileName(offset, snapSuffix))
	if known != nil {
		d.snaps = deleteOffset(known, offset)
	}
}

func (d *directory) forgetSnapshots(name string) {
	if strings.HasSuffix(name, snapSuffix) {
		d.snaps = nil
	}
}

// snapshots are the offsets of the .snapshot files, ascending, for the caller to keep.
func (d *directory) snapshots() ([]int64, error) {
	if d.snaps != nil {
		return slices.Clone(d.snaps), nil
	}
	found, plain := []int64{}, true
	for name := range d.files {
		if !strings.HasSuffix(name, snapSuffix) {
			continue
		}
		offset, err := offsetOf(name)
		if err != nil {
			return nil, err
		}
		found = append(found, offset)
		plain = plain && name == fileName(offset, snapSuffix)
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if plain { // with other spellings of a number a removal does not tell what is left
		d.snaps = slices.Clone(found)
	}
	return found, nil
}

// insertOffset puts an offset in its place of an ascending list.
func insertOffset(offsets []int64, offset int64) []int64 {
	at, found := slices.BinarySearch(offsets, offset)
	if found {
		return offsets
	}
	return slices.Insert(offsets, at, offset)
}

// deleteOffset takes an offset out of an ascending list.
func deleteOffset(offsets []int64, offset int64) []int64 {
	at, found := slices.BinarySearch(offsets, offset)
	if !found {
		return offsets
	}
	return slices.Delete(offsets, at, at+1)
}

// content is an open file of the picture.
type content struct {
	io.ReaderAt
	size  int64
	close func() error
}

func (d *directory) open(name string) (content, error) { return d.openFile(d.files[name]) }

func (d *directory) openFile(f *File) (content, error) {
	if f.Origin == "" {
		data := f.Data
		if data == nil {
			data = make([]byte, f.Size)
		}
		return content{bytes.NewReader(data), int64(len(data)), func() error { return nil }}, nil
	}
	file, err := d.fs.Open(filepath.Join(d.path, f.Origin))
	if err != nil {
		return content{}, err
	}
	return content{io.NewSectionReader(file, f.Start, f.Size), f.Size, file.Close}, nil
}

// read returns a small file whole.
func (d *directory) read(name string, limit int64) ([]byte, error) {
	c, err := d.open(name)
	if err != nil {
		return nil, err
	}
	if c.size > limit {
		return nil, errors.Join(throw(ioException, "%s: %d bytes", name, c.size), c.close())
	}
	data := make([]byte, c.size)
	return data, c.readInto(data)
}

// readInto fills p with the first bytes of the file, and closes it.
func (c content) readInto(p []byte) error {
	n, err := c.ReadAt(p, 0)
	if errors.Is(err, io.EOF) && n == len(p) {
		err = nil
	}
	return errors.Join(err, c.close())
}

// offsetOf is the number before the first dot of a name, as Java's Long.parseLong sees it.
func offsetOf(name string) (int64, error) {
	text, _, ok := strings.Cut(name, ".")
	if !ok {
		return 0, throw("StringIndexOutOfBoundsException", "begin 0, end -1, length %d", len(name))
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, throw(numberFormat, "For input string: %q", text)
	}
	return n, nil
}

// fileName is the name of a segment's file: twenty digits, and the sign in front of them.
func fileName(base int64, suffix string) string {
	digits, negative := strings.CutPrefix(strconv.FormatInt(base, 10), "-")
	name := strings.Repeat("0", max(0, 20-len(digits))) + digits + suffix
	if negative {
		return "-" + name
	}
	return name
}
