package inspect

import (
	"fmt"
	"strings"
	"testing"

	"logdir/store"
	"logdir/store/record"
)

// wordLog builds a log from words: d1 is a record of producer 1, c1 and a1 commit and abort its
// transaction, n is a record outside of any, x3 an unknown control record of producer 3. The
// offset of each is its number.
func wordLog(t *testing.T, text string) (raw []byte) {
	t.Helper()
	for i, word := range strings.Fields(text) {
		m := record.NoProducer()
		m.BaseOffset = int64(i)
		if word != "n" {
			m.ProducerID, m.ProducerEpoch, m.Transactional = int64(word[1]-'0'), 7, true
		}
		var err error
		switch word[0] {
		case 'a', 'c':
			end := record.EndTxnMarker{Type: record.Commit}
			if word[0] == 'a' {
				end.Type = record.Abort
			}
			raw, err = record.AppendEndTxnMarker(raw, m, end, 0)
		default:
			m.Control = word[0] == 'x'
			b := record.NewBuilder()
			b.Reset(m)
			b.Append(&record.Record{Offset: int64(i), Key: []byte{0, 0, 0, 42}, Value: []byte{0}})
			raw, err = b.Build(raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return raw
}

func txnsOf(t *testing.T, raw []byte) (list []string, damage int) {
	t.Helper()
	log, err := store.OpenReader(fsWith(t, map[string][]byte{logName: raw}), "t-0", store.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := Transactions(log, func(x Txn) error {
		list = append(list, fmt.Sprintf("%d/%d %d..%d %s", x.ProducerID, x.ProducerEpoch, x.FirstOffset, x.LastOffset, x.State))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list, len(found)
}

func TestTransactions(t *testing.T) {
	for _, c := range []struct {
		name, log string
		want      []string
		damage    int
	}{
		{"none", "n n", nil, 0},
		{"one of each", "d1 d1 c1 d1 a1 d1 d1", []string{"1/7 0..2 committed", "1/7 3..4 aborted", "1/7 5..6 open"}, 0},
		{
			"they come by their first offset, not by their end", "d1 d2 n d3 c3 a2 c1",
			[]string{"1/7 0..6 committed", "2/7 1..5 aborted", "3/7 3..4 committed"},
			0,
		},
		{"an open one does not hide others", "d1 d2 c2", []string{"1/7 0..0 open", "2/7 1..2 committed"}, 0},
		{"a marker alone ends nothing", "c1 a2 d1 c1", []string{"1/7 2..3 committed"}, 0},
		{"a control record that ends nothing is damage", "d3 x3 c3", []string{"3/7 0..2 committed"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, damage := txnsOf(t, wordLog(t, c.log))
			if fmt.Sprint(got) != fmt.Sprint(c.want) || damage != c.damage {
				t.Errorf("%v with %d damaged places, want %v with %d", got, damage, c.want, c.damage)
			}
		})
	}
}

// A marker that cannot be read leaves its transaction open, and says so.
func TestTransactionsUnderDamage(t *testing.T) {
	raw := wordLog(t, "d1 c1 d2 c2")
	raw[len(wordLog(t, "d1"))+70] ^= 1 // inside the marker at offset 1
	got, damage := txnsOf(t, raw)
	if want := "[1/7 0..0 open 2/7 2..3 committed]"; fmt.Sprint(got) != want || damage != 1 {
		t.Errorf("%v with %d damaged places, want %s", got, damage, want)
	}
}
