package inspect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
)

// plainPrinter prints just enough to see order and extent.
type plainPrinter struct{}

func (plainPrinter) Fork() Printer                       { return plainPrinter{} }
func (plainPrinter) File(dst []byte, _ *DumpFile) []byte { return dst }
func (plainPrinter) Batch(dst []byte, b *Frame) []byte {
	return fmt.Appendf(dst, "%d..%d at %d %v\n", b.BaseOffset(), b.LastOffset(), b.Pos, b.Valid)
}
func (plainPrinter) Record(dst []byte, _ *Frame, _ *record.Record) []byte { return dst }
func (plainPrinter) EndBatch(dst []byte, _ *Frame) []byte                 { return dst }
func (plainPrinter) Row(dst []byte, _ *DumpFile, f []Field) []byte        { return fmt.Appendln(dst, f) }

func (plainPrinter) Invalid(dst []byte, _ *DumpFile, pos, size int64, end bool) []byte {
	return fmt.Appendf(dst, "%d invalid at %d %v\n", size, pos, end)
}

func (plainPrinter) Line(dst []byte, _ *DumpFile, text string) []byte { return append(dst, text...) }

// dump dumps logName and returns what was printed, the report and the error.
func dump(t *testing.T, fsys vfs.ReadFS, o DumpOptions) (string, DumpReport, error) {
	t.Helper()
	var out bytes.Buffer
	d := Dumper{FS: fsys, Out: &out, Printer: plainPrinter{}, Options: o}
	err := d.File(t.Context(), logName, logName)
	return out.String(), d.Report, err
}

// wantLines is the dump of log, which is undamaged.
func wantLines(log []byte) string {
	var want strings.Builder
	for pos := 0; pos < len(log); {
		b, size, _ := record.ViewHeader(log[pos:])
		fmt.Fprintf(&want, "%d..%d at %d true\n", b.BaseOffset(), b.LastOffset(), pos)
		pos += int(size)
	}
	return want.String()
}

// A log of many runs comes out in order whatever the number of workers.
func TestDumpKeepsTheOrderOfTheLog(t *testing.T) {
	log := logOf(t, 3000, 100) // about 3.4 MB, 13 runs
	fsys := fsWith(t, map[string][]byte{logName: log})
	for _, workers := range []int{1, 2, 7} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
			got, report, err := dump(t, fsys, DumpOptions{Deep: true})
			if err != nil || len(report.Damage) > 0 || len(report.Gaps) > 0 {
				t.Fatalf("err %v, report %+v", err, report)
			}
			if got != wantLines(log) {
				t.Errorf("%d bytes of output, want %d", len(got), len(wantLines(log)))
			}
		})
	}
}

// Batches larger than a run, and larger than what is read unseen.
func TestDumpLargeBatches(t *testing.T) {
	log := batchOf(t, 0, 1, 100)
	log = append(log, batchOf(t, 1, 1, 3*runSize)...)
	log = append(log, batchOf(t, 2, 1, maxHeld+1)...)
	log = append(log, batchOf(t, 3, 1, 100)...)
	got, report, err := dump(t, fsWith(t, map[string][]byte{logName: log}), DumpOptions{Deep: true})
	if err != nil || len(report.Damage) > 0 || got != wantLines(log) {
		t.Errorf("%s err %v, damage %v", got, err, report.Damage)
	}

	hurt := bytes.Clone(log)
	hurt[len(log)-2000] ^= 1 // inside the largest
	got, report, err = dump(t, fsWith(t, map[string][]byte{logName: hurt}), DumpOptions{Deep: true})
	if err != nil || len(report.Damage) != 1 || !strings.HasSuffix(got, fmt.Sprintf("3..3 at %d true\n", len(log)-len(batchOf(t, 3, 1, 100)))) {
		t.Errorf("%s err %v, damage %v", got, err, report.Damage)
	}
}

func TestDumpGoesOnBehindDamage(t *testing.T) {
	one := len(batchOf(t, 0, 10, 100))
	tests := []struct {
		name   string
		edit   func(log []byte) []byte
		line   string // what stands in the output beside the good batches
		good   int
		damage corrupt.Kind
	}{
		{"a flipped bit: the batch is shown as invalid", func(log []byte) []byte {
			log[2*one+100] ^= 1
			return log
		}, fmt.Sprintf("20..29 at %d false\n", 2*one), 4, corrupt.BadCRC},
		{"a size beyond the file", func(log []byte) []byte {
			log[2*one+8] = 0x7f
			return log
		}, fmt.Sprintf("%d invalid at %d false\n", one, 2*one), 4, corrupt.Garbage},
		{"a size that cuts the batch short: it is shown, the next one is found", func(log []byte) []byte {
			log[2*one+10] = 0
			return log
		}, fmt.Sprintf("20..29 at %d false\n", 2*one), 4, corrupt.BadCRC},
		{"a negative size", func(log []byte) []byte {
			log[2*one+8] = 0xff
			return log
		}, fmt.Sprintf("%d invalid at %d false\n", one, 2*one), 4, corrupt.Garbage},
		{
			"a torn end", func(log []byte) []byte { return log[:5*one-10] },
			fmt.Sprintf("%d invalid at %d true\n", one-10, 4*one), 4, corrupt.Garbage,
		},
		{
			"text behind the end", func(log []byte) []byte { return append(log, "not a batch, but more than seventeen bytes"...) },
			fmt.Sprintf("42 invalid at %d true\n", 5*one), 5, corrupt.Garbage,
		},
		{
			"three bytes behind the end", func(log []byte) []byte { return append(log, 1, 2, 3) },
			fmt.Sprintf("3 invalid at %d true\n", 5*one), 5, corrupt.Garbage,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			log := tt.edit(logOf(t, 5, 100))
			got, report, err := dump(t, fsWith(t, map[string][]byte{logName: log}), DumpOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got, tt.line) || strings.Count(got, " true\n")-strings.Count(tt.line, " true\n") != tt.good {
				t.Errorf("want %q and %d good batches:\n%s", tt.line, tt.good, got)
			}
			if len(report.Damage) == 0 || report.Damage[0].Kind != tt.damage || report.Damage[0].Path != logName {
				t.Errorf("damage %v", report.Damage)
			}
		})
	}
}

func TestDumpNotesGapsAcrossRuns(t *testing.T) {
	log := logOf(t, 1000, 100)
	log = append(log, batchOf(t, 20000, 1, 10)...)
	_, report, err := dump(t, fsWith(t, map[string][]byte{logName: log}), DumpOptions{Deep: true})
	if err != nil || len(report.Gaps) != 1 || report.Gaps[0] != (Gap{logName, 9999, 20000}) {
		t.Errorf("err %v, gaps %v", err, report.Gaps)
	}
}

func TestDumpFilter(t *testing.T) {
	log := logOf(t, 1000, 100)
	fsys := fsWith(t, map[string][]byte{logName: log})
	got, _, err := dump(t, fsys, DumpOptions{From: 5005, To: 5011})
	if err != nil || strings.Count(got, "\n") != 2 || !strings.HasPrefix(got, "5000..5009 ") {
		t.Errorf("err %v: %s", err, got)
	}
}

// What is good in front of bad sectors comes out, then the error names the range.
func TestDumpReadError(t *testing.T) {
	log := logOf(t, 3000, 100)
	fsys := faultfs.Wrap(fsWith(t, map[string][]byte{logName: log}), nil)
	fsys.BadSectors(logName, 2<<20, 2<<20+512)
	got, _, err := dump(t, fsys, DumpOptions{})
	bad, ok := errors.AsType[*segment.ReadError](err)
	if !ok || !errors.Is(err, syscall.EIO) || bad.Pos > 2<<20 || bad.Pos+bad.Size <= 2<<20 {
		t.Errorf("err = %v", err)
	}
	if !strings.HasPrefix(wantLines(log), got) || len(got) < 10000 {
		t.Errorf("%d bytes of output before the bad sectors", len(got))
	}
}

// A reader of the output that goes away ends the dump.
func TestDumpWriteError(t *testing.T) {
	fsys := fsWith(t, map[string][]byte{logName: logOf(t, 3000, 100)})
	d := Dumper{FS: fsys, Out: closedPipe{}, Printer: plainPrinter{}}
	if err := d.File(t.Context(), logName, logName); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("err = %v", err)
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// Any bytes whatever: the dump ends, and says something about all of them.
func FuzzDump(f *testing.F) {
	f.Add(logOf(f, 3, 10))
	f.Add(append(logOf(f, 2, 10), make([]byte, 100)...))
	f.Add([]byte("no log at all, no log at all, no log at all"))
	f.Fuzz(func(t *testing.T, log []byte) {
		fsys := fsWith(t, map[string][]byte{logName: log})
		d := Dumper{FS: fsys, Out: io.Discard, Printer: plainPrinter{}, Options: DumpOptions{Deep: true}}
		if err := d.File(t.Context(), logName, logName); err != nil {
			t.Fatal(err)
		}
		if len(log) > 0 && len(log) < record.PrefixSize && len(d.Report.Damage) == 0 {
			t.Errorf("%d bytes are no log, and nothing was said", len(log))
		}
	})
}

// With an index beside it, a log is read from where the index leads; a wrong index does no
// harm.
func TestDumpFilterUsesTheIndex(t *testing.T) {
	files := indexed(t, logOf(t, 3000, 100))
	fsys := faultfs.Wrap(fsWith(t, files), nil)
	fsys.BadSectors(logName, 1<<20, 1<<20+512)
	o := DumpOptions{From: 25000, To: 25001}
	got, _, err := dump(t, fsys, o)
	if err != nil || !strings.HasPrefix(got, "25000..25009 ") {
		t.Errorf("err %v: %s", err, got)
	}

	index := files[withSuffix(logName, segment.IndexSuffix)]
	for i := 7; i < len(index); i += 8 {
		index[i]++
	}
	got, _, err = dump(t, fsWith(t, files), o)
	if err != nil || !strings.HasPrefix(got, "25000..25009 ") {
		t.Errorf("wrong index: err %v: %s", err, got)
	}
}
