package cmd

import (
	"logdir/cmd/internal/flagval"
	"logdir/store"
	"logdir/store/cluster"
)

// offsetAt resolves the one offset that a flag gives against a replica as it is. What is
// counted from the end is counted from the high watermark.
func (e *Env) offsetAt(v *cluster.View, ref store.PartitionRef, flag string, spec flagval.OffsetSpec) (int64, error) {
	if spec.HasTo || spec.From.Kind == flagval.Stored {
		return 0, usagef("%s %s: want one offset", flag, &spec)
	}
	if spec.From.Kind == flagval.Exact {
		return spec.From.N, nil
	}
	marks, err := v.Offsets(ref)
	if err != nil {
		return 0, err
	}
	end := marks.LogEnd
	if marks.HighWatermark >= 0 {
		end = min(end, marks.HighWatermark)
	}
	switch spec.From.Kind {
	case flagval.Start:
		return min(marks.LogStart+spec.From.N, end), nil
	case flagval.End:
		return max(end-spec.From.N, marks.LogStart), nil
	}
	return e.offsetAtTime(v, ref, spec.From.Time, end)
}

// offsetAtTime is the first offset whose timestamp is at or after the moment; end if there
// is none.
func (e *Env) offsetAtTime(v *cluster.View, ref store.PartitionRef, m flagval.Moment, end int64) (int64, error) {
	log, err := v.Reader(ref)
	if err != nil {
		return 0, err
	}
	offset, _, found, err := log.OffsetForTime(m.At(e.Now()))
	if err != nil || !found {
		return end, err
	}
	return offset, nil
}
