package segment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store/segment"
	"logdir/store/vfs/memfs"
)

func TestFileName(t *testing.T) {
	if got := segment.FileName(42, segment.LogSuffix); got != "00000000000000000042.log" {
		t.Errorf("got %q", got)
	}
}

func TestParseName(t *testing.T) {
	type parts struct {
		Base   int64
		Suffix string
		OK     bool
	}
	for name, want := range map[string]parts{
		"00000000000000000042.log":               {42, ".log", true},
		"00000000000000000042.timeindex.deleted": {42, ".timeindex.deleted", true},
		"7.log":                                  {7, ".log", true}, // Kafka does not ask for padding
		"-1.log":                                 {-1, ".log", true},
		"09223372036854775807.snapshot":          {9223372036854775807, ".snapshot", true},
		"09223372036854775808.log":               {}, // beyond int64
		"foo.log":                                {},
		"00000000000000000042":                   {},
		".log":                                   {},
		"leader-epoch-checkpoint":                {},
		"00000000000000000012-0000000003.checkpoint": {},
	} {
		var got parts
		got.Base, got.Suffix, got.OK = segment.ParseName(name)
		if got != want {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}

func TestParsePartitionDir(t *testing.T) {
	const u = "0123456789abcdef0123456789abcdef"
	for name, want := range map[string]segment.PartitionDir{
		"orders-0":                  {Topic: "orders", Partition: 0},
		"a-b-3-dashes-12":           {Topic: "a-b-3-dashes", Partition: 12},
		"__cluster_metadata-0":      {Topic: "__cluster_metadata", Partition: 0},
		"x--0":                      {Topic: "x-", Partition: 0},
		"x-delete-0":                {Topic: "x-delete", Partition: 0},
		"orders-1." + u + "-delete": {Topic: "orders", Partition: 1, State: segment.Delete},
		"orders-2." + u + "-future": {Topic: "orders", Partition: 2, State: segment.Future},
		"orders-3." + u + "-stray":  {Topic: "orders", Partition: 3, State: segment.Stray},
		"a.b-c-3." + u + "-stray":   {Topic: "a.b-c", Partition: 3, State: segment.Stray},
		"v1.2-4." + u + "-delete":   {Topic: "v1.2", Partition: 4, State: segment.Delete},
		"orders-2147483647":         {Topic: "orders", Partition: 2147483647},
	} {
		got, ok := segment.ParsePartitionDir(name)
		if d := cmp.Diff(want, got); !ok || d != "" {
			t.Errorf("%q: ok %t (-want +got)\n%s", name, ok, d)
		}
	}
	for _, name := range []string{
		"", "lost+found", "orders", "orders-", "-0", "orders-x", "orders-2147483648",
		"foo-delete", "orders-1.-delete", "orders-x." + u + "-future",
	} {
		if got, ok := segment.ParsePartitionDir(name); ok {
			t.Errorf("%q: got %v", name, got)
		}
	}
}

func TestDirNameIsParsed(t *testing.T) {
	got, ok := segment.ParsePartitionDir(segment.DirName("a-b", 7))
	if want := (segment.PartitionDir{Topic: "a-b", Partition: 7}); !ok || got != want {
		t.Errorf("got %v", got)
	}
}

func TestList(t *testing.T) {
	fs := memfs.New()
	if err := fs.MkdirAll("p-0/00000000000000000005.log"); err != nil { // a folder
		t.Fatal(err)
	}
	for _, name := range []string{
		"00000000000000000100.log", "00000000000000000100.index",
		"00000000000000000000.log", "00000000000000000000.index", "00000000000000000000.timeindex", "00000000000000000000.txnindex",
		"00000000000000000100.snapshot", "00000000000000000123.snapshot",
		"00000000000000000007.index", "00000000000000000007.timeindex",
		"00000000000000000009.log.swap", "00000000000000000008.index.deleted", "00000000000000000006.log.cleaned",
		"foo.log", "x.snapshot", "notes.txt", "leader-epoch-checkpoint", "00000000000000000000.log.bak",
	} {
		f, err := fs.Create("p-0/" + name)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	got, err := segment.List(fs, "p-0")
	if err != nil {
		t.Fatal(err)
	}
	want := segment.Listing{
		Segments: []segment.Files{
			{
				Base: 0, Log: "00000000000000000000.log", Index: "00000000000000000000.index",
				TimeIndex: "00000000000000000000.timeindex", TxnIndex: "00000000000000000000.txnindex",
			},
			{
				Base: 100, Log: "00000000000000000100.log", Index: "00000000000000000100.index",
				Snapshot: "00000000000000000100.snapshot",
			},
		},
		Orphans: []segment.Name{
			{Name: "00000000000000000007.index", Base: 7, Suffix: ".index"},
			{Name: "00000000000000000007.timeindex", Base: 7, Suffix: ".timeindex"},
		},
		Snapshots: []segment.Name{
			{Name: "00000000000000000100.snapshot", Base: 100, Suffix: ".snapshot"},
			{Name: "00000000000000000123.snapshot", Base: 123, Suffix: ".snapshot"},
		},
		Leftovers: []segment.Name{
			{Name: "00000000000000000006.log.cleaned", Base: 6, Suffix: ".log.cleaned"},
			{Name: "00000000000000000008.index.deleted", Base: 8, Suffix: ".index.deleted"},
			{Name: "00000000000000000009.log.swap", Base: 9, Suffix: ".log.swap"},
		},
		BadNames: []string{"foo.log", "x.snapshot"},
		Others:   []string{"00000000000000000000.log.bak", "00000000000000000005.log", "leader-epoch-checkpoint", "notes.txt"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
