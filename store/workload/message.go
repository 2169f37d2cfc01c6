package workload

import (
	"bytes"
	"math/rand/v2"
	"strconv"
)

// message is what a value says of itself:
//
//	1004.17.253 kqzwvbn...
//	run  |  |   padding up to the record size
//	     |  sequence: the producer's 254th message
//	     producer
//
// The run is a producer id that the cluster gave to nobody else, so two runs on one topic
// do not take each other's records for their own.
type message struct {
	run      int64
	producer int
	sequence int
}

func (m message) append(dst []byte) []byte {
	dst = append(strconv.AppendInt(dst, m.run, 10), '.')
	dst = append(strconv.AppendInt(dst, int64(m.producer), 10), '.')
	return strconv.AppendInt(dst, int64(m.sequence), 10)
}

// longestRun is the digits that a run is given room for.
const longestRun = 6

// MinRecordSize is the bytes that the longest message needs without padding.
func (p *Plan) MinRecordSize() int {
	longest := message{producer: p.Producers - 1, sequence: max(0, p.Messages-1)}
	return longestRun - 1 + len(longest.append(nil))
}

// parseMessage is the inverse of append; ok is false for a value of somebody else.
func parseMessage(value []byte) (m message, ok bool) {
	head, _, _ := bytes.Cut(value, []byte{' '})
	first, head, _ := bytes.Cut(head, []byte{'.'})
	second, third, _ := bytes.Cut(head, []byte{'.'})
	run, ok1 := parseNumber(first)
	producer, ok2 := parseNumber(second)
	sequence, ok3 := parseNumber(third)
	return message{int64(run), producer, sequence}, ok1 && ok2 && ok3
}

// maxNumber keeps a number of somebody else's from running over.
const maxNumber = 1 << 50

// parseNumber reads digits and nothing else.
func parseNumber(text []byte) (n int, ok bool) {
	for _, c := range text {
		if c < '0' || c > '9' || n > maxNumber {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(text) > 0
}

// padding is a run of letters that values are filled up from.
type padding []byte

// variety is from how many places values take their padding.
const variety = 1024

func newPadding(recordSize int, seed uint64) padding {
	letters := rand.New(rand.NewPCG(seed, 0))
	p := make(padding, recordSize+variety)
	for i := range p {
		p[i] = byte('a' + letters.IntN(26))
	}
	return p
}

// value appends the value of m, of at least size bytes, to dst.
func (p padding) value(dst []byte, m message, size int) []byte {
	dst = m.append(dst)
	if len(dst) >= size {
		return dst
	}
	dst = append(dst, ' ')
	from := m.sequence % variety
	return append(dst, p[from:from+size-len(dst)]...)
}
