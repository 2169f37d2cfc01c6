package checkpoint

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"logdir/fixtures"
)

// eachStateFile hands on every file of the corpus directories of real brokers whose name,
// without .tmp, is one of names. Where is the pack and the path in it.
func eachStateFile(t *testing.T, names []string, yield func(where string, data []byte)) {
	t.Helper()
	for _, pack := range fixtures.Packs(t) {
		files := pack.Files(t, func(name string) bool {
			return slices.Contains(names, strings.TrimSuffix(filepath.Base(name), TempSuffix))
		})
		for name, data := range files {
			yield(pack.Name+"/"+name, data)
		}
	}
}

// crlf is the pack whose text files went through an editor that ends lines with CR LF.
const crlf = "k063/"

// written is data as Kafka wrote it.
func written(where string, data []byte) []byte {
	if strings.HasPrefix(where, crlf) {
		return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	return data
}

// Every offset checkpoint that a real broker left parses, is without fault, and is written
// again as it was.
func TestCorpusOffsets(t *testing.T) {
	count := 0
	eachStateFile(t, OffsetFiles, func(where string, data []byte) {
		count++
		o, err := ParseOffsets(data)
		if err != nil {
			t.Errorf("%s: %v", where, err)
		}
		for _, damage := range CheckOffsets(data) {
			t.Errorf("%s: %v", where, damage)
		}
		if got, want := AppendOffsets(nil, o), written(where, data); len(data) > 0 && !bytes.Equal(got, want) {
			t.Errorf("%s: read %q, written %q", where, want, got)
		}
	})
	if count != 583 {
		t.Errorf("%d files, not 583", count)
	}
}

// So does every leader-epoch-checkpoint, and a broker keeps all of its lines.
func TestCorpusEpochs(t *testing.T) {
	count := 0
	eachStateFile(t, []string{EpochFile}, func(where string, data []byte) {
		count++
		h, err := ParseEpochs(data)
		if err != nil {
			t.Errorf("%s: %v", where, err)
		}
		for _, damage := range CheckEpochs(data, -1) {
			t.Errorf("%s: %v", where, damage)
		}
		if got, want := AppendEpochs(nil, h.Load()), written(where, data); len(data) > 0 && !bytes.Equal(got, want) {
			t.Errorf("%s: read %q, written %q", where, want, got)
		}
	})
	if count != 4546 {
		t.Errorf("%d files, not 4546", count)
	}
}

// Every partition.metadata parses, but for those of k027, which have no bytes.
func TestCorpusPartitionMetadata(t *testing.T) {
	count, empty := 0, 0
	eachStateFile(t, []string{PartitionMetadataFile}, func(where string, data []byte) {
		count++
		m, err := ParsePartitionMetadata(data)
		if strings.HasPrefix(where, "k027/") && len(data) == 0 && err != nil {
			empty++
			return
		}
		if err != nil {
			t.Errorf("%s: %v", where, err)
			return
		}
		if got, want := AppendPartitionMetadata(nil, m), written(where, data); !bytes.Equal(got, want) {
			t.Errorf("%s: read %q, written %q", where, want, got)
		}
	})
	if count != 2464 || empty != 51 {
		t.Errorf("%d files, %d of them empty, not 2464 and 51", count, empty)
	}
}

// Every meta.properties parses, and its values stand in the file.
func TestCorpusMetaProperties(t *testing.T) {
	count := 0
	eachStateFile(t, []string{MetaPropertiesFile}, func(where string, data []byte) {
		count++
		m, err := ParseMetaProperties(data)
		if err != nil {
			t.Errorf("%s: %v", where, err)
		}
		for _, p := range m.all() {
			if line := p.Key + "=" + p.Value; !bytes.Contains(data, []byte(line)) && line != "version=0" {
				t.Errorf("%s: read %s from %q", where, line, data)
			}
		}
	})
	if count != 143 {
		t.Errorf("%d files, not 143", count)
	}
}

// Every quorum-state parses and is written again as it was.
func TestCorpusQuorumState(t *testing.T) {
	count := 0
	eachStateFile(t, []string{QuorumStateFile}, func(where string, data []byte) {
		count++
		s, err := ParseQuorumState(data)
		if err != nil {
			t.Errorf("%s: %v", where, err)
		}
		if got, want := AppendQuorumState(nil, s), written(where, data); !bytes.Equal(got, want) {
			t.Errorf("%s: read %q, written %q", where, want, got)
		}
	})
	if count != 48 {
		t.Errorf("%d files, not 48", count)
	}
}

// Clean-shutdown markers are empty or JSON.
func TestCorpusCleanShutdown(t *testing.T) {
	empty, full := 0, 0
	eachStateFile(t, []string{CleanShutdownFile}, func(where string, data []byte) {
		m := ParseCleanShutdown(data)
		if len(data) == 0 {
			empty++
			return
		}
		full++
		if got := AppendCleanShutdown(nil, m.BrokerEpoch); !bytes.Equal(got, data) {
			t.Errorf("%s: read %q, written %q", where, data, got)
		}
	})
	if empty+full != 54 || full == 0 || empty == 0 {
		t.Errorf("%d empty and %d full markers, not 54 in all", empty, full)
	}
}
