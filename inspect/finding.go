package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"logdir/store/corrupt"
)

// Severity says how much a finding matters.
type Severity uint8

// The severities. Only damage makes a check fail.
const (
	Info    Severity = iota // worth knowing, and normal
	Warning                 // not as it should be, and no record is hurt
	Damage                  // bytes that are wrong
)

// String is the word in reports.
func (s Severity) String() string { return [...]string{"info", "warning", "damage"}[s] }

// The kinds of findings that are no damage to bytes; those of damage are corrupt.Kind's.
const (
	PaddedIndex     corrupt.Kind = "padded-index"     // preallocated, as a killed broker leaves it
	OlderIndex      corrupt.Kind = "older-index"      // entries by the habits of brokers before 4.0
	OffsetGap       corrupt.Kind = "gap"              // offsets missing between segments
	Overlap         corrupt.Kind = "overlap"          // offsets in two segments, after an interrupted cleaning
	Leftover        corrupt.Kind = "leftover"         // a file of interrupted or postponed work
	OrphanIndex     corrupt.Kind = "orphan-index"     // an index without its log
	MissingLog      corrupt.Kind = "missing-log"      // an index with entries, and its log is gone or empty
	PutAside        corrupt.Kind = "put-aside"        // a -delete, -future or -stray folder
	Foreign         corrupt.Kind = "foreign"          // nothing of Kafka's
	Future          corrupt.Kind = "future"           // timestamps far ahead of the clock
	BeyondEnd       corrupt.Kind = "beyond-end"       // a checkpoint ahead of its log
	StartBeyondEnd  corrupt.Kind = "start-beyond-end" // a log start ahead of its log: a broker wipes the partition
	EpochMismatch   corrupt.Kind = "epoch-mismatch"   // leader-epoch-checkpoint against the batches
	UnknownLine     corrupt.Kind = "unknown-line"     // a checkpoint line without a folder
	CommittedOffset corrupt.Kind = "committed-offset" // a group's offset outside its log
	OpenTransaction corrupt.Kind = "open-txn"         // holds the last stable offset back
	TopicIDs        corrupt.Kind = "topic-ids"        // one topic, several ids
	TwoPlaces       corrupt.Kind = "two-places"       // the same partition twice
	UnevenClusters  corrupt.Kind = "cluster-ids"      // log directories of several clusters
)

// Finding is one thing that a check has to say.
type Finding struct {
	Severity Severity
	*corrupt.Error
	// Count is how many identical findings this one stands for, Files where they are.
	Count int
	Files []string
	// Next is the command to type next, or "".
	Next string
}

// fewPlaces is how many places of one finding a report names.
const fewPlaces = 3

// Where is the place, or the places, as a report shows them.
func (f *Finding) Where() string {
	switch {
	case f.Count > fewPlaces:
		return fmt.Sprintf("(%d places, the first %s)", f.Count, f.Files[0])
	case f.Count > 1:
		return strings.Join(f.Files, ",")
	case f.Severity == Damage && f.Pos >= 0 && f.Size != 0:
		return fmt.Sprintf("%s at %d", f.Path, f.Pos)
	}
	return f.Path
}

// groupFindings sorts by severity, worst first, and makes identical findings that are no
// damage one. Damage keeps its places.
func groupFindings(all []Finding) []Finding {
	type key struct {
		severity Severity
		kind     corrupt.Kind
		detail   string
	}
	at := map[key]int{}
	var out []Finding
	for _, f := range all {
		k := key{f.Severity, f.Kind, f.Detail}
		if i, seen := at[k]; seen && f.Severity != Damage {
			out[i].Count++
			out[i].Files = append(out[i].Files, f.Path)
			out[i].Next = sharedNext(out[i].Next, f.Next)
			continue
		}
		at[k] = len(out)
		f.Count, f.Files = 1, []string{f.Path}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), strings.Compare(string(a.Kind), string(b.Kind)))
	})
	return out
}

// sharedNext is one command for two findings: where only the TARGET differs, that for all.
func sharedNext(a, b string) string {
	verb, target, ok := cutLast(a)
	if other, _, _ := cutLast(b); a == b || !ok || other != verb || !strings.Contains(target, ":") {
		return a
	}
	return verb
}

// cutLast cuts a command before its last word.
func cutLast(command string) (before, last string, ok bool) {
	i := strings.LastIndexByte(command, ' ')
	if i < 0 {
		return command, "", false
	}
	return command[:i], command[i+1:], true
}
