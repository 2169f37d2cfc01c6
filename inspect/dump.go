package inspect

import (
	"context"
	"io"
	"math"
	"path/filepath"
	"strings"

	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/vfs"
)

// DumpOptions say what a dump reads. How it looks is the Printer's business.
type DumpOptions struct {
	// Deep reads the records of each batch (--deep-iteration).
	Deep bool
	// MaxBytes stops the walk of a log there (--max-bytes); zero means the whole file.
	MaxBytes int64
	// From and To leave out batches that hold no offset in [From, To). To zero: no limit.
	From, To int64
	// MaxMessageSize is how much of the log is read behind an index entry.
	MaxMessageSize int
	// VerifyIndexOnly checks index entries without printing them; SanityOnly makes only
	// the cheap checks of a broker's start.
	VerifyIndexOnly, SanityOnly bool
	// MaxBatch bounds what one batch may decompress to; zero means record.DefaultLimit.
	MaxBatch int
}

// DefaultMaxMessageSize is Kafka's default of --max-message-size.
const DefaultMaxMessageSize = 5 << 20

func (o *DumpOptions) to() int64 {
	if o.To == 0 {
		return math.MaxInt64
	}
	return o.To
}

// A Printer turns what a dump finds into bytes. Its methods append to dst and keep
// nothing of their arguments. A Printer serves one goroutine: others Fork it.
type Printer interface {
	Fork() Printer
	// File begins a file.
	File(dst []byte, f *DumpFile) []byte
	// Batch shows a frame, Record one record of it, EndBatch closes it. Record is called
	// only with DumpOptions.Deep.
	Batch(dst []byte, b *Frame) []byte
	Record(dst []byte, b *Frame, r *record.Record) []byte
	EndBatch(dst []byte, b *Frame) []byte
	// Row shows one entry of any other file.
	Row(dst []byte, f *DumpFile, fields []Field) []byte
	// Invalid shows bytes of a log that are no frame.
	Invalid(dst []byte, f *DumpFile, pos, size int64, atEnd bool) []byte
	// Line shows a remark of Kafka's tool: "F is empty."
	Line(dst []byte, f *DumpFile, text string) []byte
}

// DumpFile is the file that is being dumped.
type DumpFile struct {
	// Path opens the file, Name is what the dump calls it; Base is without folders.
	Path, Name, Base string
	Kind             FileKind
	// BaseOffset is the offset in the file's name; for a KRaft snapshot its end offset.
	BaseOffset int64
	// Epoch is the leader epoch in the name of a KRaft snapshot.
	Epoch int32
}

// Frame is one batch of a log with what a dump knows of it.
type Frame struct {
	record.Batch
	File *DumpFile
	// Pos is the first byte of the frame in the file.
	Pos int64
	// Magic is the magic byte as it stands in the file; of an unknown one the frame is
	// shown as Kafka's tool shows it, like v2.
	Magic int8
	// Valid says whether the stored checksum is that of the bytes.
	Valid bool
	// Damage is what stopped the reading of the records; it is set before EndBatch.
	Damage *corrupt.Error
}

// Field is one value of an index, snapshot or checkpoint entry under Kafka's name.
type Field struct {
	Name   string
	Int    int64
	Text   string
	IsText bool // Text is the value, not Int
	// Optional marks a Java OptionalLong, which is empty if Absent.
	Optional, Absent bool
}

func number[T ~int | ~int16 | ~int32 | ~int64](name string, v T) Field {
	return Field{Name: name, Int: int64(v)}
}

func text(name, v string) Field { return Field{Name: name, Text: v, IsText: true} }

func optional(name string, v int64) Field {
	return Field{Name: name, Int: v, Optional: true, Absent: v < 0}
}

// FileKind is what the name of a file says about its content.
type FileKind int

// The kinds of files that a dump reads.
const (
	UnknownFile FileKind = iota
	LogFile
	SnapshotCheckpointFile // KRaft's O-E.checkpoint and bootstrap.checkpoint
	IndexFile
	TimeIndexFile
	TxnIndexFile
	ProducerSnapshotFile
	OffsetCheckpointFile
	EpochCheckpointFile
	PartitionMetadataFile
	MetaPropertiesFile
	QuorumStateFile
)

// leftovers are endings that a broker adds to a file it has not finished with; the
// content stays what it was.
var leftovers = []string{".deleted", ".cleaned", ".swap", ".tmp", ".part"}

// KindOf tells the kind of a file from its name.
func KindOf(path string) FileKind {
	base := filepath.Base(path)
	for _, ending := range leftovers {
		base = strings.TrimSuffix(base, ending)
	}
	switch base {
	case checkpoint.EpochFile:
		return EpochCheckpointFile
	case checkpoint.PartitionMetadataFile:
		return PartitionMetadataFile
	case checkpoint.MetaPropertiesFile:
		return MetaPropertiesFile
	case checkpoint.QuorumStateFile:
		return QuorumStateFile
	}
	if strings.HasSuffix(base, "-checkpoint") {
		return OffsetCheckpointFile
	}
	switch filepath.Ext(base) {
	case ".log":
		return LogFile
	case ".checkpoint":
		return SnapshotCheckpointFile
	case ".index":
		return IndexFile
	case ".timeindex":
		return TimeIndexFile
	case ".txnindex":
		return TxnIndexFile
	case ".snapshot":
		return ProducerSnapshotFile
	}
	return UnknownFile
}

// Dumper dumps files one after the other, as Kafka's DumpLogSegments does.
type Dumper struct {
	FS      vfs.ReadFS
	Out     io.Writer
	Options DumpOptions
	Printer Printer

	// Report grows with each file.
	Report DumpReport

	out []byte // not yet written; reused
}

// DumpReport is what a dump has to say beside the entries themselves: Kafka's tool
// prints it on stderr, after all files.
type DumpReport struct {
	IndexMismatches []IndexMismatch
	TimeMismatches  []TimeMismatch
	TimeDisorders   []TimeDisorder
	OffsetsNotFound []IndexMismatch
	Gaps            []Gap
	// Damage is everything that is wrong: gaps, and mismatches that older brokers are
	// known to write, are not.
	Damage []*corrupt.Error
	// Unknown are files of no known kind.
	Unknown []string
}

// IndexMismatch is an entry of an offset or time index whose offset is not the last
// offset of the batch it leads to. LogOffset is that batch's, -1 if there is none.
type IndexMismatch struct {
	Path                   string
	IndexOffset, LogOffset int64
}

// TimeMismatch is an entry of a time index with another timestamp than its batch has.
type TimeMismatch struct {
	Path                         string
	IndexTimestamp, LogTimestamp int64
}

// TimeDisorder is an entry of a time index whose timestamp is not above the one before.
type TimeDisorder struct {
	Path                string
	Timestamp, Previous int64
}

// Gap is a step between two records of more than one offset.
type Gap struct {
	Path           string
	Offset, Follow int64
}

// File dumps the file at path and calls it name. The error is about reading or writing;
// damage goes to the Report.
func (d *Dumper) File(ctx context.Context, path, name string) error {
	f := &DumpFile{Path: path, Name: name, Base: filepath.Base(path), Kind: KindOf(path)}
	f.readName()
	d.out = d.Printer.File(d.out[:0], f)
	if err := d.content(ctx, f); err != nil {
		_ = d.flush() // what was good comes out before the error is told
		return err
	}
	return d.flush()
}

func (d *Dumper) content(ctx context.Context, f *DumpFile) error {
	if f.Kind == UnknownFile {
		d.Report.Unknown = append(d.Report.Unknown, f.Name)
		return nil
	}
	src, size, err := open(d.FS, f.Path)
	if err != nil {
		return err
	}
	defer src.Close()
	switch f.Kind {
	case LogFile, SnapshotCheckpointFile:
		return d.log(ctx, f, src, size)
	case IndexFile:
		return d.offsetIndex(f, src, size)
	case TimeIndexFile:
		return d.timeIndex(f, src, size)
	}
	return d.state(f, src, size)
}

// readName takes the offset, and of a KRaft snapshot the epoch, from the file's name.
// What is no number there stays 0: the content of the file is shown all the same.
func (f *DumpFile) readName() {
	stem, _, _ := strings.Cut(f.Base, ".")
	offset, rest := leadingNumber(stem)
	f.BaseOffset = offset
	if f.Kind == SnapshotCheckpointFile {
		epoch, _ := leadingNumber(strings.TrimPrefix(rest, "-"))
		f.Epoch = int32(epoch)
	}
}

// leadingNumber reads the digits at the start of s, up to 19 of them behind the zeros.
func leadingNumber(s string) (n int64, rest string) {
	i := 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9' && n <= (math.MaxInt64-9)/10; i++ {
		n = n*10 + int64(s[i]-'0')
	}
	return n, s[i:]
}

// flush writes what was rendered so far.
func (d *Dumper) flush() error {
	if len(d.out) == 0 {
		return nil
	}
	_, err := d.Out.Write(d.out)
	d.out = d.out[:0]
	return err
}

// flushAt is how much rendered output is written at once.
const flushAt = 256 << 10

// spill writes what was rendered once it is much.
func (d *Dumper) spill() error {
	if len(d.out) < flushAt {
		return nil
	}
	return d.flush()
}

func (d *Dumper) damaged(err *corrupt.Error, path string) {
	err.Path = path
	d.Report.Damage = append(d.Report.Damage, err)
}

// open opens a file for reading and fixes its size: what is written behind it later is
// not part of the report.
func open(fsys vfs.ReadFS, path string) (vfs.ReadFile, int64, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
