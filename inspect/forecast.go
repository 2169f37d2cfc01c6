package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"logdir/inspect/startup"
	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// ForecastAction is what an Apache Kafka broker does with a partition when it starts.
type ForecastAction string

// The actions, as check --forecast prints them.
const (
	ForecastNothing ForecastAction = "nothing" // it loads the log as it is
	ForecastCut     ForecastAction = "cut"     // it cuts the log at its first bad batch
	ForecastDelete  ForecastAction = "delete"  // it cuts, and deletes all later segments
	ForecastEmpty   ForecastAction = "empty"   // it empties a segment whose offsets are out of order
	ForecastWipe    ForecastAction = "wipe"    // it drops the whole log and begins a new one
	ForecastReplace ForecastAction = "replace" // it moves *.swap files into their places
	ForecastSplit   ForecastAction = "split"   // it splits a segment with an offset too far above its base
	ForecastStray   ForecastAction = "stray"   // it puts the folder aside under another name
	ForecastRefuse  ForecastAction = "refuse"  // it does not start
)

// Forecast is what will happen to one partition, or, without a topic, to the whole log
// directory.
type Forecast struct {
	store.PartitionRef
	Action ForecastAction
	// From and To are the log end offset now and afterwards, or corrupt.Unknown.
	From, To int64
	// RecordsLost counts every record that goes, unreadable ones by their header.
	RecordsLost int64
	// Why says it in words; the exception's class and message where the broker stops.
	Why string
	// Unclean is set if the forecast is for a start without the clean-shutdown marker.
	Unclean bool
}

// ForecastOptions say what is assumed about the start.
type ForecastOptions struct {
	// Unclean forecasts a start without the clean-shutdown marker, if there is one.
	Unclean bool
	// IndexInterval is index.interval.bytes; 0 means 4096.
	IndexInterval int
}

// ForecastLogDir foretells a broker's next start on a log directory, folder by folder. It
// writes nothing, not even the marker that a broker removes. What only the cluster knows,
// assignments and topic ids, is not judged.
func ForecastLogDir(ctx context.Context, d *store.Dir, l store.LogDir, o ForecastOptions) ([]Forecast, error) {
	f := &forecaster{ctx: ctx, fs: d.FS, logDir: l.Path, o: o, points: map[string]checkpoint.Offsets{}}
	if err := f.readLogDir(); err != nil {
		return nil, err
	}
	out, err := f.folders()
	if err != nil {
		return nil, err
	}
	refs, err := d.Partitions(l)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		if ref.Topic == metadataTopic || ref.State == segment.Stray {
			continue
		}
		one, err := f.partition(ref)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, ctx.Err()
}

// metadataTopic is loaded by the controller, by rules of its own.
const metadataTopic = "__cluster_metadata"

// forecaster foretells one log directory.
type forecaster struct {
	ctx    context.Context
	fs     vfs.ReadFS
	logDir string
	o      ForecastOptions
	clean  bool
	kraft  bool // meta.properties is of a KRaft broker
	points map[string]checkpoint.Offsets
}

// readLogDir reads what the broker reads first. A checkpoint that does not parse counts as
// empty.
func (f *forecaster) readLogDir() error {
	clean, err := vfs.Exists(f.fs, filepath.Join(f.logDir, checkpoint.CleanShutdownFile))
	if err != nil {
		return err
	}
	f.clean = clean && !f.o.Unclean
	for _, name := range []string{checkpoint.RecoveryPointFile, checkpoint.LogStartFile} {
		lines, err := checkpoint.ReadOffsets(f.fs, filepath.Join(f.logDir, name))
		if _, bad := errors.AsType[*corrupt.Error](err); err != nil && !bad {
			return err
		} else if !bad {
			f.points[name] = lines
		}
	}
	meta, err := checkpoint.ReadMetaProperties(f.fs, filepath.Join(f.logDir, checkpoint.MetaPropertiesFile))
	f.kraft = err == nil && meta.Version == 1
	return nil
}

// folders finds the folders at which a broker stops because their names are none of a
// partition.
func (f *forecaster) folders() ([]Forecast, error) {
	entries, err := f.fs.ReadDir(f.logDir)
	if err != nil {
		return nil, err
	}
	var out []Forecast
	for _, e := range entries {
		if !e.IsDir() || e.Name() == "remote-log-index-cache" {
			continue
		}
		if _, ok := segment.ParsePartitionDir(e.Name()); ok {
			continue
		}
		out = append(out, Forecast{
			PartitionRef: store.PartitionRef{TopicPartition: store.TopicPartition{Partition: -1}, Broker: store.NoBroker},
			Action:       ForecastRefuse, From: corrupt.Unknown, To: corrupt.Unknown,
			Why: fmt.Sprintf("KafkaException: the folder %s has no name of a partition; move it away", e.Name()),
		})
	}
	return out, nil
}

func (f *forecaster) partition(ref store.PartitionRef) (Forecast, error) {
	out := Forecast{PartitionRef: ref, Action: ForecastNothing, From: corrupt.Unknown, To: corrupt.Unknown, Unclean: !f.clean}
	point := func(name string) int64 {
		n, _ := f.points[name].Get(ref.Topic, ref.Partition)
		return n
	}
	interval := f.o.IndexInterval
	if interval == 0 {
		interval = store.DefaultIndexInterval
	}
	o, err := startup.Load(f.fs, ref.Dir, startup.Options{
		Clean: f.clean, RecoveryPoint: point(checkpoint.RecoveryPointFile), LogStart: point(checkpoint.LogStartFile),
		IndexInterval: interval, Deleting: ref.State == segment.Delete,
	})
	if err != nil {
		return out, err
	}
	if out.From, err = f.logEnd(ref.Dir); err != nil {
		return out, err
	}
	out.judge(o)
	if out.Action != ForecastRefuse {
		if out.RecordsLost, err = f.lost(ref.Dir, o); err != nil {
			return out, err
		}
		err = f.stray(&out)
	}
	return out, err
}

// logEnd is the log end that our own scan finds in the last segment.
func (f *forecaster) logEnd(dir string) (int64, error) {
	r, err := store.OpenReader(f.fs, dir, store.ReaderOptions{})
	if err != nil {
		return corrupt.Unknown, err
	}
	end, _, err := r.End()
	return end, err
}

// judge names what the outcome comes to: the worst of all that happens.
func (f *Forecast) judge(o *startup.Outcome) {
	if o.Failure != nil {
		f.Action, f.Why = ForecastRefuse, o.Failure.Error()
		return
	}
	f.To = o.LogEnd
	for name, file := range o.Files {
		if file.Origin == name+segment.SwapSuffix {
			f.Action, f.Why = ForecastReplace, "an interrupted compaction or split is finished"
		}
	}
	splits := splitWords(o)
	if splits != "" {
		f.Action, f.Why = ForecastSplit, ""
	}
	for _, s := range o.Segments {
		f.judgeSegment(s)
	}
	if o.Wiped {
		f.Action, f.Why = ForecastWipe, fmt.Sprintf("the log ends below its log start offset %d", o.LogStart)
	}
	f.Why = joinWords(splits, f.Why)
}

func (f *Forecast) judgeSegment(s startup.Segment) {
	switch {
	case s.Gone() || s.Overwritten:
	case s.Emptied:
		f.Action, f.Why = ForecastEmpty, s.Why
	case s.Removed:
		if f.Action != ForecastEmpty {
			f.Action = ForecastDelete
		}
	case s.Valid < s.OldSize:
		f.Action, f.Why = ForecastCut, fmt.Sprintf("segment %020d at byte %d: %s", s.Base, s.Valid, s.Why)
	}
}

// splitWords says which segments would be split, and into which.
func splitWords(o *startup.Outcome) (words string) {
	for _, s := range o.Segments {
		if s.Split == nil {
			continue
		}
		into := make([]string, len(s.Split))
		for i, base := range s.Split {
			into[i] = segment.FileName(base, "")
		}
		text := fmt.Sprintf("segment %020d would split into %s: %s", s.Base, strings.Join(into, ", "), s.Why)
		if s.Stays {
			text += "; it would stay beside them"
		}
		words = joinWords(words, text)
	}
	return words
}

func joinWords(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// lost counts the records of the bytes that go.
func (f *forecaster) lost(dir string, o *startup.Outcome) (int64, error) {
	var records int64
	for _, s := range o.Segments {
		if s.Gone() || s.Valid == s.OldSize && !s.Removed {
			continue
		}
		n, err := f.lostIn(dir, s, o.BaseBehind(s.Base))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return records, err
		}
		records += n
	}
	return records, nil
}

// lostIn counts those of one segment; limit is the base offset of the next, 0 if there is none.
func (f *forecaster) lostIn(dir string, s startup.Segment, limit int64) (int64, error) {
	stood := s.Stood()
	file, err := f.fs.Open(filepath.Join(dir, segment.FileName(stood.Base, segment.LogSuffix)))
	if err != nil {
		return 0, err
	}
	o := segment.Options{Base: s.Base, Start: stood.Pos + s.Valid, LogEnd: corrupt.Unknown}
	if s.Valid > 0 {
		o.LogEnd = s.Next
	}
	var records int64
	var damage []*corrupt.Error
	scan := segment.NewScanner(file, stood.Pos+s.OldSize, o)
	for scan.Next() {
		if d := scan.Damage(); d != nil {
			damage = append(damage, d)
		} else {
			records += CountRecords(scan.Batch())
		}
	}
	for _, n := range corrupt.CountLost(damage, limit) {
		records += n
	}
	return records, errors.Join(scan.Err(), file.Close())
}

// stray: a KRaft broker puts a partition without a topic id aside right after loading it.
func (f *forecaster) stray(out *Forecast) error {
	_, err := checkpoint.ReadPartitionMetadata(f.fs, filepath.Join(out.Dir, checkpoint.PartitionMetadataFile))
	damage, bad := errors.AsType[*corrupt.Error](err)
	switch {
	case bad:
		out.Action, out.To, out.RecordsLost, out.Why = ForecastRefuse, corrupt.Unknown, 0, damage.Error()
	case errors.Is(err, fs.ErrNotExist) && f.kraft && out.State == segment.Normal:
		out.Action, out.Why = ForecastStray, "it has no topic id: partition.metadata is missing"
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}
