package recovery

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"logdir/inspect/startup"
	"logdir/store/corrupt"
	"logdir/store/segment"
)

// isPart says that the broker fills a file with bytes out of the log of a segment that it
// splits. The first part can be what is left of that log; then the log is only cut.
func isPart(f *startup.File) bool {
	return f.Origin != "" && (f.Start > 0 || f.Origin != f.Name && f.Origin != f.Name+segment.SwapSuffix)
}

// newNames are the names that files on disk have afterwards.
type newNames struct {
	moved map[string]string
	split map[string]bool // the logs that parts are taken from
}

func (k *kafkaMaker) newNames() newNames {
	n := newNames{map[string]string{}, map[string]bool{}}
	for _, f := range k.out.Files {
		switch {
		case isPart(f):
			n.split[f.Origin] = true
		case f.Origin != "":
			n.moved[f.Origin] = f.Name
		}
	}
	return n
}

// of is the new name of a file, "" for one that does not stay. A segment that is moved and
// then split is moved whole, for the split to be planned behind that.
func (n newNames) of(name string) string {
	if to := n.moved[name]; to != "" {
		return to
	}
	base, _, ok := segment.ParseName(name)
	plain, swap := strings.CutSuffix(name, segment.SwapSuffix)
	if ok && swap && n.split[segment.FileName(base, segment.LogSuffix+segment.SwapSuffix)] {
		return plain
	}
	return ""
}

// untilSplit parts removals: log and indexes of a segment that is split stay until its
// parts are there. Without one of them, the next start would not split it the same way.
func (k *kafkaMaker) untilSplit(removed []Change) (early, late []Change) {
	names := k.newNames()
	for _, c := range removed {
		base, suffix, _ := segment.ParseName(filepath.Base(c.Path))
		if names.split[segment.FileName(base, segment.LogSuffix)] && suffix != segment.TxnIndexSuffix && suffix != segment.SnapshotSuffix {
			late = append(late, c)
		} else {
			early = append(early, c)
		}
	}
	return early, late
}

// parts plans the parts of segments that are split, each log behind its indexes, so that
// none is recovered out of turn after a crash. It answers which files that were.
func (k *kafkaMaker) parts() ([]string, error) {
	var planned []string
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(k.out.Files))) {
		f := k.out.Files[name]
		if !isPart(f) || f.Origin == name {
			continue
		}
		base := strings.TrimSuffix(name, segment.LogSuffix)
		for _, suffix := range []string{segment.TxnIndexSuffix, segment.TimeIndexSuffix, segment.IndexSuffix, segment.LogSuffix} {
			if f := k.out.Files[base+suffix]; f != nil {
				planned = append(planned, f.Name)
				if err := k.add(f); err != nil {
					return nil, err
				}
			}
		}
	}
	return planned, nil
}

// splitRow is for a segment whose batches go to others.
func (k *kafkaMaker) splitRow(s startup.Segment) *Row {
	names := make([]string, len(s.Split))
	for i, base := range s.Split {
		names[i] = segment.FileName(base, "")
	}
	action := "split into " + strings.Join(names, ", ")
	if s.Stays {
		action += ", and stays beside them"
	}
	row := k.plan.row(s.Base, corrupt.BadOffset, s.Next, "%s", action)
	return &row
}

// overwrittenRow is for a segment whose name such a part takes.
func (k *kafkaMaker) overwrittenRow(s startup.Segment) (*Row, error) {
	loss, err := k.lossOf(s, 0)
	if err != nil {
		return nil, err
	}
	return k.lossRow(s, "", loss, loss.Bytes, fmt.Sprintf("overwritten (%s)", s.Why)), nil
}
