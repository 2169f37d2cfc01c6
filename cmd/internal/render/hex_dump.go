package render

import (
	"logdir/inspect"
	"logdir/store/record"
)

// DumpHex prints each frame as hex with its fields named: the view for teaching.
type DumpHex struct {
	DumpText
	// Records says that uncompressed records are taken apart too.
	Records bool
}

// Fork returns a printer of the same form for another goroutine.
func (h *DumpHex) Fork() inspect.Printer { return &DumpHex{Records: h.Records} }

// Record prints nothing: the frame was shown whole.
func (h *DumpHex) Record(dst []byte, _ *inspect.Frame, _ *record.Record) []byte { return dst }
