package recovery

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"logdir/store"
	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// benchLog is a partition directory on disk with one segment of about size bytes, in
// batches of so many records of 100 bytes, with both indexes.
func benchLog(b *testing.B, size, perBatch int) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "t-0")
	must(b, os.Mkdir(dir, 0o755))
	var log []byte
	x := index.NewBuilder(0, index.DefaultInterval)
	build, offset := record.NewBuilder(), int64(0)
	for len(log) < size {
		m := record.NoProducer()
		m.BaseOffset, m.LeaderEpoch = offset, 0
		build.Reset(m)
		for range perBatch {
			build.Append(&record.Record{Offset: offset, Timestamp: 1700000000000 + offset, Value: make([]byte, 100)})
			offset++
		}
		pos := len(log)
		var err error
		log, err = build.Build(log)
		must(b, err)
		frame, damage := record.Parse(log[pos:])
		if damage != nil {
			b.Fatal(damage)
		}
		x.Add(index.SpanOf(&frame, int64(pos)))
	}
	x.Finish()
	for suffix, data := range map[string][]byte{segment.LogSuffix: log, segment.IndexSuffix: x.Index(), segment.TimeIndexSuffix: x.TimeIndex()} {
		must(b, os.WriteFile(filepath.Join(dir, segment.FileName(0, suffix)), data, 0o644))
	}
	b.SetBytes(int64(len(log)))
	return dir
}

// BenchmarkClean is the bar of performance.md: a plan for a clean segment, with CRC and
// both indexes checked, against the bare scan that verify-crc makes.
func BenchmarkClean(b *testing.B) {
	for _, perBatch := range []int{1, 9, 150} {
		dir := benchLog(b, 64<<20, perBatch)
		log := filepath.Join(dir, segment.FileName(0, segment.LogSuffix))
		b.Run(fmt.Sprintf("scan/%d", perBatch), func(b *testing.B) {
			f, err := vfs.OS().Open(log)
			must(b, err)
			defer f.Close()
			size, err := vfs.Size(vfs.OS(), log)
			must(b, err)
			b.SetBytes(size)
			s := segment.NewScanner(f, size, segment.Options{})
			for b.Loop() {
				s.Reset(f, size, segment.Options{LogEnd: -1})
				for s.Next() {
				}
				if s.Damage() != nil || s.Err() != nil {
					b.Fatal(s.Damage(), s.Err())
				}
			}
		})
		b.Run(fmt.Sprintf("recover/%d", perBatch), func(b *testing.B) {
			size, err := vfs.Size(vfs.OS(), log)
			must(b, err)
			b.SetBytes(size)
			d, err := ReadLogDir(vfs.OS(), filepath.Dir(dir))
			must(b, err)
			p := d.Partition(store.PartitionRef{TopicPartition: store.TopicPartition{Topic: "t"}, Dir: dir})
			for b.Loop() {
				plan, err := Make(b.Context(), vfs.OS(), p, Options{Policy: Tail})
				must(b, err)
				if !plan.Empty() || len(plan.Left) > 0 {
					b.Fatal(plan.Rows, plan.Left)
				}
			}
		})
	}
}
