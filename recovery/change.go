package recovery

import (
	"errors"
	"io/fs"

	"logdir/store/vfs"
)

// Kind is what a Change does to a file.
type Kind string

// The kinds of changes. The words stand in manifests.
const (
	Modify Kind = "modify" // replace some of its bytes
	Create Kind = "create" // make a file that is not there
	Remove Kind = "remove" // delete it
	Rename Kind = "rename" // give it another name
)

// Edit replaces the bytes [Pos, Pos+Size) of a file by New. Size 0 inserts.
type Edit struct {
	Pos, Size int64
	New       []byte
	// Reason is the damage that is taken out, or why the bytes are derived anew.
	Reason string
	// Held tells what the old bytes held, as far as their headers say; nil otherwise.
	Held *Span
}

// Span is a run of offsets, both ends included, and the records that stand in it.
type Span struct {
	BaseOffset int64 `json:"base_offset"`
	LastOffset int64 `json:"last_offset"`
	Records    int64 `json:"records"`
}

// Change is one step of a plan: it turns one file into another. The file system is only
// touched by Execute.
type Change struct {
	Kind  Kind
	Path  string
	To    string // Rename: the new name
	Edits []Edit // Modify: in order of position, and apart
	Data  []byte // Create: the content
	// Staged is a file that holds all of the new content already, instead of Edits or Data.
	// When the changes are made it is found at StagedAs: Job.Before may have renamed it.
	Staged, StagedAs string
	// From is the run of bytes of another file that is the whole new content, instead of
	// Edits, Data or Staged.
	From *Extract
	// Action says in words what is done: "truncated to 70 bytes".
	Action string
	// Reason is why, for a file that goes or comes as a whole.
	Reason string
}

// Truncate is a change that keeps the first size bytes of a file.
func Truncate(path string, size, old int64, reason string) Change {
	return Change{
		Kind: Modify, Path: path,
		Edits: []Edit{{Pos: size, Size: old - size, Reason: reason}},
	}
}

// Delete is a change that removes a whole file.
func Delete(path, reason string) Change {
	return Change{Kind: Remove, Path: path, Reason: reason, Action: "removed"}
}

// Replace is a change that makes path hold exactly data, whether it is there or not.
func Replace(fsys vfs.ReadFS, path string, data []byte, reason string) (Change, error) {
	size, err := vfs.Size(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return Change{Kind: Create, Path: path, Data: data, Reason: reason, Action: "written"}, nil
	}
	if err != nil {
		return Change{}, err
	}
	return Change{
		Kind: Modify, Path: path, Action: "rewritten",
		Edits: []Edit{{Size: size, New: data, Reason: reason}},
	}, nil
}

// MoveIn is a change that puts a file which is written already in the place of path,
// whether there is one or not. It stands at staged when the job begins, and at stagedAs
// when the change is made. The undo of an interrupted run removes it from both.
func MoveIn(fsys vfs.ReadFS, path, staged, stagedAs, reason string) (Change, error) {
	there, err := vfs.Exists(fsys, path)
	c := Change{Kind: Create, Path: path, Staged: staged, StagedAs: stagedAs, Reason: reason, Action: "written"}
	if there {
		c.Kind, c.Action = Modify, "rewritten"
	}
	return c, err
}

// Extract is the run of bytes [Pos, Pos+Size) of a file, as it is when the job begins.
type Extract struct {
	Path      string
	Pos, Size int64
}

// CopyOut is a change that makes path hold the extract, whether it is there or not.
func CopyOut(fsys vfs.ReadFS, path string, from Extract, reason string) (Change, error) {
	there, err := vfs.Exists(fsys, path)
	c := Change{Kind: Create, Path: path, From: &from, Reason: reason, Action: "written"}
	if there {
		c.Kind, c.Action = Modify, "rewritten"
	}
	return c, err
}

// comesWhole says that the new content stands in another file.
func (c *Change) comesWhole() bool { return c.Staged != "" || c.From != nil }

// cuts are the edits of a change.
func (c *Change) cuts() []cut {
	out := make([]cut, len(c.Edits))
	for i, e := range c.Edits {
		out[i] = cut{pos: e.Pos, size: e.Size, new: literal(e.New)}
	}
	return out
}

// Patched is the file src, of size bytes, as the change would leave it. It is valid as
// long as src is, and can be scanned like a file.
func (c *Change) Patched(src vfs.ReadFile, size int64) Patched {
	return Patched{splice(src, size, c.cuts())}
}

// Patched reads a file as a change would leave it.
type Patched struct{ assembly }
