package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// JournalFile is where MiniKafka keeps its transactions, a line for each change:
//
//	c39cc20f {"first_offsets":[["out",0,0]],"id":"tx-a",...,"state":"complete_commit"}
//
// The line begins with the CRC-32 of the JSON. The last line of an id counts.
const JournalFile = "transactions.journal"

// stateCommitted is the state of a transaction whose records MiniKafka lets readers see.
const stateCommitted = "complete_commit"

// JournalIsolation is the Isolation of a log of MiniKafka, whose transactions stand in journal:
// records are visible once their transaction is committed. Nothing waits for those that are
// open; their records are passed over.
func JournalIsolation(journal []byte, highWatermark int64) *Isolation {
	i := &Isolation{LastStable: highWatermark, committed: map[string]bool{}}
	for line := range bytes.Lines(journal) {
		id, state, ok := parseJournalLine(line)
		if !ok {
			break // what a crash left of a line, as MiniKafka cuts it off
		}
		i.committed[id] = state == stateCommitted
	}
	return i
}

// parseJournalLine reads one line; ok is false if it is not whole.
func parseJournalLine(line []byte) (id, state string, ok bool) {
	text, whole := bytes.CutSuffix(line, []byte("\n"))
	sum, entry, spaced := bytes.Cut(text, []byte(" "))
	if !whole || !spaced || string(sum) != fmt.Sprintf("%08x", crc32.ChecksumIEEE(entry)) {
		return "", "", false
	}
	var t struct{ ID, State string }
	if err := json.Unmarshal(entry, &t); err != nil {
		return "", "", false
	}
	return t.ID, t.State, true
}
