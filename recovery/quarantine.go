package recovery

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"logdir/store"
	"logdir/store/vfs"
)

// The names inside a quarantine:
//
//	<quarantine>/20260101T000000-1/
//	  removed.bin     every byte that was taken out, zeros left away
//	  manifest.json   what was changed, written when removed.bin is safe on disk
//	  applied         empty; all changes are made
//	  undoing         empty; an undo has begun
//	  undone          empty; all changes are taken back
//
// A folder without a manifest is of a run that died before it changed anything.
const (
	dataName     = "removed.bin"
	manifestName = "manifest.json"
	appliedName  = "applied"
	undoingName  = "undoing"
	undoneName   = "undone"
)

// idLayout is the time in a run's name, UTC.
const idLayout = "20060102T150405"

// Quarantine is the directory that keeps what was taken out of the files below Root.
type Quarantine struct {
	FS   vfs.FS
	Dir  string
	Root string
}

// Run is one run of a command that changed files.
type Run struct {
	*Manifest
	// Finished says that all its changes were made; otherwise it was interrupted.
	Finished bool
	// Undoing and Undone tell how far it was taken back.
	Undoing, Undone bool
}

// Runs lists the runs, oldest first. Folders that hold no manifest are passed over.
func (q Quarantine) Runs() ([]Run, error) {
	entries, err := q.FS.ReadDir(q.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, e := range entries {
		if _, _, ok := parseID(e.Name()); !ok || !e.IsDir() {
			continue
		}
		r, err := q.open(e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	slices.SortFunc(runs, byID)
	return runs, nil
}

// Run finds one run by its id, or with "" the newest that is not undone.
func (q Quarantine) Run(id string) (Run, error) {
	runs, err := q.Runs()
	if err != nil {
		return Run{}, err
	}
	for i := len(runs) - 1; i >= 0; i-- {
		if id == "" && !runs[i].Undone || id == runs[i].ID {
			return runs[i], nil
		}
	}
	if id == "" {
		return Run{}, store.Errorf(store.NotFound, "RESOURCE_NOT_FOUND", "%s: no run that could be undone", q.Dir)
	}
	return Run{}, store.Errorf(store.NotFound, "RESOURCE_NOT_FOUND", "%s: no run %s", q.Dir, id).
		WithHint("logdir undo --list")
}

func (q Quarantine) open(id string) (Run, error) {
	m, err := readManifest(q.FS, filepath.Join(q.Dir, id, manifestName))
	if err != nil {
		return Run{}, err
	}
	m.ID = id
	r := Run{Manifest: m}
	for name, is := range map[string]*bool{appliedName: &r.Finished, undoingName: &r.Undoing, undoneName: &r.Undone} {
		if *is, err = vfs.Exists(q.FS, filepath.Join(q.Dir, id, name)); err != nil {
			return Run{}, err
		}
	}
	return r, nil
}

// reserve makes the folder of a new run.
func (q Quarantine) reserve(now time.Time) (string, error) {
	if err := q.FS.MkdirAll(q.Dir); err != nil {
		return "", err
	}
	stamp := now.UTC().Format(idLayout)
	for n := 1; ; n++ {
		id := fmt.Sprintf("%s-%d", stamp, n)
		err := q.FS.Mkdir(filepath.Join(q.Dir, id))
		if err == nil {
			return id, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
}

// mark makes an empty file in the run's folder, and makes it last.
func (q Quarantine) mark(id, name string) error {
	dir := filepath.Join(q.Dir, id)
	f, err := q.FS.OpenCreate(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return q.FS.SyncDir(dir)
}

// relative is the name of a file in a manifest.
func (q Quarantine) relative(path string) (string, error) {
	root, err := filepath.Abs(q.Root)
	if err != nil {
		return "", err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil {
		return "", err
	}
	return filepath.ToSlash(rel), nil
}

// path is where a file of a manifest is now.
func (q Quarantine) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(q.Root, filepath.FromSlash(name))
}

// parseID tells a run's folder from anything else: 20260101T000000-1.
func parseID(name string) (stamp time.Time, number int, ok bool) {
	text, n, _ := strings.Cut(name, "-")
	stamp, err := time.Parse(idLayout, text)
	if err != nil {
		return stamp, 0, false
	}
	number, err = strconv.Atoi(n)
	return stamp, number, err == nil && number > 0
}

// byID puts runs in order: by time, then by number.
func byID(a, b Run) int {
	at, an, _ := parseID(a.ID)
	bt, bn, _ := parseID(b.ID)
	return cmp.Or(at.Compare(bt), cmp.Compare(an, bn))
}

// zeroBlock is the grain in which zeros are told from data, in bytes.
const zeroBlock = 4096

var zeroes [zeroBlock]byte

func isZero(p []byte) bool {
	for len(p) > zeroBlock {
		if !bytes.Equal(p[:zeroBlock], zeroes[:]) {
			return false
		}
		p = p[zeroBlock:]
	}
	return bytes.Equal(p, zeroes[:len(p)])
}

// fragments cuts a run of bytes into zeros and data. keep is called with the data in
// order, and answers where it is kept.
func fragments(a assembly, keep func(p []byte) (int64, error)) ([]Fragment, error) {
	var out []Fragment
	err := a.each(func(_ int64, p []byte) error {
		for len(p) > 0 {
			block := p[:min(zeroBlock, len(p))]
			p = p[len(block):]
			f := Fragment{Size: int64(len(block)), Zeros: isZero(block)}
			if !f.Zeros {
				pos, err := keep(block)
				if err != nil {
					return err
				}
				f.Pos = pos
			}
			out = appendFragment(out, f)
		}
		return nil
	})
	return out, err
}

// appendFragment joins f to the last fragment if it goes on where that ends.
func appendFragment(out []Fragment, f Fragment) []Fragment {
	if n := len(out); n > 0 {
		last := &out[n-1]
		if last.Zeros == f.Zeros && (f.Zeros || last.Pos+last.Size == f.Pos) {
			last.Size += f.Size
			return out
		}
	}
	return append(out, f)
}
