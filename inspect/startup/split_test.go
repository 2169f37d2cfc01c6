package startup

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store/index"
	"logdir/store/producer"
	"logdir/store/record"
)

// one is a batch of one record at offset, 69 bytes long.
func one(t *testing.T, offset int64) []byte {
	t.Helper()
	meta := record.NoProducer()
	meta.BaseOffset, meta.LeaderEpoch = offset, 0
	b := record.NewBuilder()
	b.Reset(meta)
	b.Append(&record.Record{Offset: offset, Timestamp: 1700000000000 + offset, Value: []byte("v")})
	raw, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// logOf are batches of one record each.
func logOf(t *testing.T, offsets ...int64) []byte {
	t.Helper()
	var log []byte
	for _, o := range offsets {
		log = append(log, one(t, o)...)
	}
	return log
}

// far is an offset that fits no base below 3e9.
const far = 6_000_000_000

// logs writes segments with empty index files, whose bytes no recovery keeps.
func logs(segments map[int64][]byte) map[string][]byte {
	files := map[string][]byte{}
	for base, log := range segments {
		files[fileName(base, logSuffix)] = log
		files[fileName(base, indexSuffix)], files[fileName(base, timeSuffix)] = nil, nil
	}
	return files
}

// picture is a line for each segment of an outcome: the base offsets of its batches, its
// offset index as last offset@position, and the other files that have its name.
func picture(t *testing.T, fsys *directory) []string {
	t.Helper()
	var out []string
	for _, name := range fsys.names() {
		base, isLog := strings.CutSuffix(name, logSuffix)
		if !isLog {
			continue
		}
		log, err := fsys.read(name, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		var line strings.Builder
		line.WriteString(strings.TrimLeft(base, "0") + ":")
		for pos := 0; pos < len(log); pos += 12 + int(binary.BigEndian.Uint32(log[pos+8:])) {
			line.WriteString(fmt.Sprint(" ", binary.BigEndian.Uint64(log[pos:])))
		}
		line.WriteString(" |" + entries(t, fsys, base))
		for _, suffix := range []string{txnSuffix, snapSuffix} {
			if fsys.has(base + suffix) {
				line.WriteString(" " + suffix)
			}
		}
		out = append(out, line.String())
	}
	return out
}

func entries(t *testing.T, fsys *directory, base string) (line string) {
	t.Helper()
	if fsys.files[base+indexSuffix].Size > 1<<20 {
		return " of full size"
	}
	data, err := fsys.read(base+indexSuffix, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for ; len(data) > 0; data = data[index.OffsetEntrySize:] {
		line += fmt.Sprintf(" +%d@%d", binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:]))
	}
	return line
}

// TestSplit: what becomes of segments with a batch whose offset is more than 2^31-1 above
// the base. Apache Kafka 4.4's own classes made the same of the same files.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name string
		logs map[int64][]byte
		o    Options
		edit func(files map[string][]byte)
		want []string
		end  int64
	}{
		{
			name: "the last batch",
			logs: map[int64][]byte{100: logOf(t, 100, 101, 102, far)},
			want: []string{"100: 100 101 102 | +1@69 +2@138", "6000000000: 6000000000 | .snapshot"},
			end:  far + 1,
		},
		{
			name: "from one on, a segment before it",
			logs: map[int64][]byte{98: logOf(t, 98, 99), 100: logOf(t, 100, 101, far, far+1, far+2)},
			want: []string{"98: 98 99 | +1@69", "100: 100 101 | +1@69 .snapshot", "6000000000: 6000000000 6000000001 6000000002 | +1@69 +2@138 .snapshot"},
			end:  far + 3,
		},
		{
			name: "one in the middle, and the last",
			logs: map[int64][]byte{100: logOf(t, 100, far, 102, 103, far+9)},
			want: []string{
				"100: 100 |", "102: 102 103 | +1@69 .snapshot",
				"6000000000: 6000000000 | .snapshot", "6000000009: 6000000009 | .snapshot",
			},
			end: far + 10,
		},
		{
			name: "the first batch, so that the old name goes",
			logs: map[int64][]byte{100: logOf(t, far, far+1)},
			edit: func(files map[string][]byte) { files[fileName(100, snapSuffix)] = producer.AppendSnapshot(nil, nil) },
			want: []string{"6000000000: 6000000000 6000000001 | +1@69"},
			end:  far + 2,
		},
		{
			name: "no index, clean: split while it is loaded",
			logs: map[int64][]byte{100: logOf(t, 100, 101, far)},
			o:    Options{Clean: true},
			edit: func(files map[string][]byte) { delete(files, fileName(100, indexSuffix)) },
			want: []string{"100: 100 101 | +1@69", "6000000000: 6000000000 | .snapshot"},
			end:  far + 1,
		},
		{
			name: "no index, clean, another first offset: the old one stays beside its parts",
			logs: map[int64][]byte{100: logOf(t, 105, 106, far)},
			o:    Options{Clean: true},
			edit: func(files map[string][]byte) { delete(files, fileName(100, indexSuffix)) },
			want: []string{"100: 105 106 6000000000 | of full size", "105: 105 106 | +1@69 .snapshot", "6000000000: 6000000000 | .snapshot"},
			end:  far + 1,
		},
		{
			name: "the same after a kill: split a second time, and it goes",
			logs: map[int64][]byte{100: logOf(t, 105, 106, far)},
			edit: func(files map[string][]byte) { delete(files, fileName(100, indexSuffix)) },
			want: []string{"105: 105 106 | +1@69", "6000000000: 6000000000 | .snapshot"},
			end:  far + 1,
		},
		{
			name: "with its index, clean: nobody looks",
			logs: map[int64][]byte{100: logOf(t, 100, 101, far)},
			o:    Options{Clean: true},
			want: []string{"100: 100 101 6000000000 | .snapshot"},
			end:  far + 1,
		},
		{
			name: "below the recovery point: nobody looks",
			logs: map[int64][]byte{100: logOf(t, 100, far), 200: logOf(t, 200)},
			o:    Options{RecoveryPoint: 200},
			want: []string{"100: 100 6000000000 |", "200: 200 | .snapshot"},
			end:  201,
		},
		{
			name: "a part takes the name of the next segment",
			logs: map[int64][]byte{100: logOf(t, 100, far, 200, far+9), 200: logOf(t, 200, 201, 202)},
			edit: func(files map[string][]byte) { files[fileName(200, txnSuffix)] = nil },
			want: []string{"100: 100 |", "200: 200 | .txnindex .snapshot", "6000000000: 6000000000 | .snapshot", "6000000009: 6000000009 | .snapshot"},
			end:  far + 10,
		},
		{
			name: "a part below the old base: the broker forgets the part with that base",
			logs: map[int64][]byte{100: logOf(t, 100, 3, 101, far)},
			want: []string{"3: 3 101 | +98@69", "100: 100 |", "6000000000: 6000000000 | .snapshot"},
			end:  far + 1,
		},
		{
			name: "a bad checksum behind it: cut in the second round, and what is behind goes",
			logs: map[int64][]byte{100: slices.Concat(logOf(t, 100, far), set(one(t, far+1), 68, 9), logOf(t, 2*far)), 200: logOf(t, 200)},
			want: []string{"100: 100 |", "200: 200 | .snapshot", "6000000000: 6000000000 | .snapshot"},
			end:  far + 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := logs(c.logs)
			if c.edit != nil {
				c.edit(files)
			}
			fsys := write(t, files)
			c.o.IndexInterval = 1
			out, err := Load(fsys, "t-0", c.o)
			if err != nil || out.Failure != nil {
				t.Fatal(err, out.Failure)
			}
			got := picture(t, &directory{fs: fsys, path: "t-0", files: out.Files})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if out.LogEnd != c.end {
				t.Errorf("log end %d, want %d", out.LogEnd, c.end)
			}
		})
	}
}

// TestSplitRefused: logs at which a broker does not start, because the split fails.
func TestSplitRefused(t *testing.T) {
	const magic, delta = 16, 23
	tooFar := one(t, far)
	binary.BigEndian.PutUint32(tooFar[delta:], 1<<31) // lastOffsetDelta -2^31; nobody looks at its checksum
	for _, c := range []struct {
		name, class string
		log         []byte
	}{
		{"the last batch fits", illegalArgument, logOf(t, 100, far, 101)},
		{"a batch below the base, the last one fits", illegalArgument, logOf(t, 100, 3, 101)},
		{"a torn tail", noSuchElement, append(logOf(t, 100, far), one(t, far+1)[:60]...)},
		{"a length that is none", corruptRecord, append(logOf(t, 100, far), make([]byte, 60)...)},
		{"a magic that is none, behind the overflow", corruptRecord, append(logOf(t, 100, far), set(one(t, far+1), magic, 3)...)},
		{"two parts of one name", noSuchFile, logOf(t, 100, far, 101, far)},
		{"an indexed offset that falls", invalidOffset, logOf(t, 100, far, far+2, far+1)},
		{"a batch that ends before it begins", illegalState, slices.Concat(logOf(t, 100, far), tooFar, logOf(t, far+1))},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := Load(write(t, logs(map[int64][]byte{100: c.log})), "t-0", Options{IndexInterval: 1})
			if err != nil {
				t.Fatal(err)
			}
			if out.Failure == nil || out.Failure.Class != c.class {
				t.Errorf("failure %v, want %s", out.Failure, c.class)
			}
		})
	}
}

// TestSplitTold: which segments the report names, and where the bytes of each stood.
func TestSplitTold(t *testing.T) {
	files := logs(map[int64][]byte{100: logOf(t, 100, far, 200, far+9), 200: logOf(t, 200, 201)})
	out, err := Load(write(t, files), "t-0", Options{IndexInterval: 4096})
	if err != nil || out.Failure != nil {
		t.Fatal(err, out.Failure)
	}
	why := "LogSegmentOffsetOverflowException: " + overflowOf(far, 100, 69)
	from := func(pos int64) *Place { return &Place{Base: 100, Pos: pos} }
	want := []Segment{
		{Base: 100, Recovered: true, OldSize: 276, Valid: 276, Next: far + 10, Why: why, Split: []int64{100, far, 200, far + 9}},
		{Base: 100, Recovered: true, OldSize: 69, Valid: 69, Next: 101, From: from(0)},
		{Base: 200, OldSize: 138, Next: 200, Overwritten: true, Why: "a segment that is split off 00000000000000000100 takes its name"},
		{Base: 200, Recovered: true, OldSize: 69, Valid: 69, Next: 201, From: from(138)},
		{Base: far, Recovered: true, OldSize: 69, Valid: 69, Next: far + 1, From: from(69)},
		{Base: far + 9, Recovered: true, OldSize: 69, Valid: 69, Next: far + 10, From: from(207)},
	}
	if diff := cmp.Diff(want, out.Segments); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func overflowOf(offset, base, pos int64) string {
	return (&index.OrderError{Rule: index.OffsetRange, Offset: offset, Last: base, Pos: pos}).Error()
}

// TestFileName: a batch with a negative base offset can begin a part.
func TestFileName(t *testing.T) {
	for base, want := range map[int64]string{
		0: "00000000000000000000.log", far: "00000000006000000000.log", -5: "-00000000000000000005.log",
	} {
		if got := fileName(base, logSuffix); got != want {
			t.Errorf("%d: %s, want %s", base, got, want)
		}
		if back, err := offsetOf(want); err != nil || back != base {
			t.Errorf("%s: %d, %v", want, back, err)
		}
	}
}
