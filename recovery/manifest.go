package recovery

import (
	"encoding/json"
	"fmt"
	"time"

	"logdir/store/vfs"
)

// manifestVersion is the version of manifest.json that is written and read.
const manifestVersion = 1

// manifestLimit bounds what is read of a manifest, in bytes.
const manifestLimit = 256 << 20

// Manifest says what one run changed, file by file and byte range by byte range, and
// where in the quarantine the old bytes are. It is written before the first change and
// is never changed itself.
type Manifest struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Command string    `json:"command"`
	Time    time.Time `json:"time"`
	// Root is the directory that file names are relative to, as it was called then.
	Root  string  `json:"root"`
	Files []Entry `json:"files"`
}

// Entry is one change.
type Entry struct {
	File   string `json:"file"` // relative to Root, with slashes
	To     string `json:"to,omitempty"`
	Kind   Kind   `json:"kind"`
	Action string `json:"action"`
	Reason string `json:"reason,omitempty"`
	// Before and After are the whole file; nil where there was or will be none.
	Before *State  `json:"before"`
	After  *State  `json:"after"`
	Ranges []Range `json:"ranges,omitempty"`
	// Staged are the names under which the new file stood before it was moved in place. Of
	// an interrupted run there may be one left.
	Staged []string `json:"staged,omitempty"`
}

// State is what a file looked like.
type State struct {
	Size   int64     `json:"size"`
	SHA256 string    `json:"sha256"`
	Mtime  time.Time `json:"mtime"`
}

// Range is a run of bytes that was replaced.
type Range struct {
	Pos     int64  `json:"pos"`      // in the old file
	Size    int64  `json:"size"`     // old bytes
	NewSize int64  `json:"new_size"` // bytes that took their place
	Reason  string `json:"reason,omitempty"`
	// Held tells which offsets and records the old bytes held, if that is known.
	Held      *Span      `json:"held,omitempty"`
	Fragments []Fragment `json:"fragments,omitempty"`
}

// Fragment is where a piece of the old bytes is kept: at Pos in the data file, or
// nowhere, because all of it is zero.
type Fragment struct {
	Size  int64 `json:"size"`
	Pos   int64 `json:"pos"`
	Zeros bool  `json:"zeros,omitempty"`
}

// Bytes is how many old bytes the entry took out, or, for a file that was made or
// lengthened, how many it put in.
func (e *Entry) Bytes() int64 {
	var out, in int64
	for _, r := range e.Ranges {
		out, in = out+r.Size, in+r.NewSize
	}
	switch {
	case out > 0:
		return out
	case in == 0 && e.Kind == Create && e.After != nil:
		return e.After.Size
	}
	return in
}

func readManifest(fsys vfs.ReadFS, path string) (*Manifest, error) {
	data, err := vfs.ReadAll(fsys, path, manifestLimit)
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.Version != manifestVersion {
		return nil, fmt.Errorf("%s: version %d, this program knows %d", path, m.Version, manifestVersion)
	}
	return &m, nil
}

func (m *Manifest) encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", " ")
	return append(data, '\n'), err
}
