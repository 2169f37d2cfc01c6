package render

import (
	"strconv"

	"logdir/inspect"
	"logdir/store/record"
)

// DumpHex prints each frame as hex with its fields named: the view for teaching. Other
// files look as in DumpText.
type DumpHex struct{ DumpText }

// Fork returns a printer of the same form for another goroutine.
func (h *DumpHex) Fork() inspect.Printer { return &DumpHex{} }

const (
	hexPerLine = 8
	hexWidth   = 3*hexPerLine + 2
	nameWidth  = 22
)

// Batch prints a line about the frame, and one for each field:
//
//	batch at 0: 88 bytes, magic 2, offsets 0..0
//	       0  00 00 00 00 00 00 00 00  baseOffset            0
func (h *DumpHex) Batch(dst []byte, b *inspect.Frame) []byte {
	dst = strconv.AppendInt(append(dst, "batch at "...), b.Pos, 10)
	dst = strconv.AppendInt(append(dst, ": "...), int64(b.Size()), 10)
	dst = append(append(dst, " bytes, magic "...), b.Format().String()...)
	dst = strconv.AppendInt(append(dst, ", offsets "...), b.BaseOffset(), 10)
	dst = strconv.AppendInt(append(dst, ".."...), b.LastOffset(), 10)
	dst = append(dst, '\n')
	for _, p := range inspect.Anatomy(b) {
		if p.Record > 0 {
			dst = strconv.AppendInt(append(dst, "  record "...), int64(p.Record), 10)
			dst = append(dst, '\n')
		}
		dst = appendPart(dst, b.Pos, &p)
	}
	return dst
}

// appendPart prints a field on as many lines as its bytes take.
func appendPart(dst []byte, frame int64, p *inspect.Part) []byte {
	for at := 0; at < len(p.Bytes); at += hexPerLine {
		line := p.Bytes[at:min(at+hexPerLine, len(p.Bytes))]
		dst = appendRight(dst, frame+int64(p.Pos+at), 8)
		dst = appendHexLine(append(dst, ' '), line)
		if at == 0 {
			dst = appendPadded(dst, hexWidth-3*len(line))
			dst = append(dst, p.Name...)
			dst = appendPadded(dst, max(1, nameWidth-len(p.Name)))
			dst = append(dst, p.Value...)
		}
		dst = append(dst, '\n')
	}
	return dst
}

func appendHexLine(dst, line []byte) []byte {
	for _, c := range line {
		dst = append(dst, ' ', hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}

func appendPadded(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, ' ')
	}
	return dst
}

// appendRight prints a number flush right.
func appendRight(dst []byte, v int64, width int) []byte {
	var digits [20]byte
	d := strconv.AppendInt(digits[:0], v, 10)
	return append(appendPadded(dst, width-len(d)), d...)
}

// Record prints nothing: the frame was shown whole.
func (h *DumpHex) Record(dst []byte, _ *inspect.Frame, _ *record.Record) []byte { return dst }

// EndBatch prints nothing.
func (h *DumpHex) EndBatch(dst []byte, _ *inspect.Frame) []byte { return dst }
