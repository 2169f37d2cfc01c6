package client

import (
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"logdir/store/record"
)

// journalOf makes a journal of "id state" lines.
func journalOf(lines ...string) []byte {
	var journal strings.Builder
	for _, line := range lines {
		id, state, _ := strings.Cut(line, " ")
		entry := fmt.Sprintf(`{"first_offsets":[],"id":%q,"state":%q}`, id, state)
		fmt.Fprintf(&journal, "%08x %s\n", crc32.ChecksumIEEE([]byte(entry)), entry)
	}
	return []byte(journal.String())
}

// miniKafkaLog has a record of each transaction, and one outside of any.
func miniKafkaLog(t *testing.T, ids ...string) (raw []byte) {
	t.Helper()
	for i, id := range append(ids, "") {
		m := record.NoProducer()
		m.Format, m.BaseOffset, m.TransactionalID, m.Transactional = record.MKB1, int64(i), id, id != ""
		b := record.NewBuilder()
		b.Reset(m)
		b.Append(&record.Record{Offset: int64(i), Value: []byte(id)})
		var err error
		if raw, err = b.Build(raw); err != nil {
			t.Fatal(err)
		}
	}
	return raw
}

func TestJournalIsolation(t *testing.T) {
	log := logOf(t, miniKafkaLog(t, "a", "b", "c"))
	whole := journalOf("a ongoing", "b ongoing", "a prepare_commit", "a complete_commit", "b prepare_abort", "c complete_commit", "b complete_abort")
	for _, c := range []struct {
		name    string
		journal []byte
		want    []string
	}{
		{"what is committed is seen", whole, []string{"0=a", "2=c", "3="}},
		{"without a journal no transaction was committed", nil, []string{"3="}},
		{"a decision is no commit", journalOf("a prepare_commit"), []string{"3="}},
		{"the last line of an id counts", append(whole, journalOf("a ongoing")...), []string{"2=c", "3="}},
		{"half a line at the end is nothing", whole[:len(whole)-9], []string{"0=a", "2=c", "3="}},
		{"nothing counts behind a bad line", append([]byte("00000000 {}\n"), whole...), []string{"3="}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := read(Fetch{Log: log, To: 4, Isolation: JournalIsolation(c.journal, 4)})
			check(t, "records", c.want, got)
			checkError(t, "", err)
		})
	}
}
