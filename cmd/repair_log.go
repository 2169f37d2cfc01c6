package cmd

import (
	"context"
	"log/slog"

	"logdir/recovery"
	"logdir/store"
	"logdir/store/corrupt"
)

// logRecovery writes a log line of whatever changes bytes that are there already.
func (e *Env) logRecovery(level slog.Level, what string, attrs ...slog.Attr) {
	e.Log.LogAttrs(context.Background(), level, what, append([]slog.Attr{slog.String("component", "recovery")}, attrs...)...)
}

// logRun tells of a run that is over, and in debug of each file that it changed.
func (r *repair) logRun(id string, w work, err error) {
	if id == "" { // nothing was changed
		return
	}
	run := slog.String("id", id)
	for _, c := range w.changes {
		r.env.logRecovery(slog.LevelDebug, string(c.Kind), run, slog.String("file", c.Path), slog.String("action", c.Action))
	}
	what := "run"
	attrs := []slog.Attr{run, slog.String("command", r.command), slog.Int("changes", len(w.changes)), slog.String("quarantine", r.quarantine(w.place).Dir)}
	if err != nil {
		what, attrs = "run broken off", append(attrs, slog.String("error", err.Error()))
	}
	r.env.logRecovery(slog.LevelInfo, what, attrs...)
}

// logCheck tells what came out when the replicas were looked at.
func (s *recoverRun) logCheck() {
	s.env.logRecovery(slog.LevelInfo, "check", slog.String("command", s.command), slog.Int("replicas", len(s.plans)),
		slog.Int("to_repair", s.changed()), slog.Int("unreadable", len(s.errs)))
}

// log tells what was done about each damage, or would be, and what stays.
func (s *recoverRun) log() {
	what := "repair"
	if s.o.dryRun {
		what = "plan"
	}
	for _, p := range s.plans {
		for _, row := range p.Rows {
			s.env.logRecovery(slog.LevelInfo, what, rowAttrs(row)...)
		}
		for _, left := range p.Left {
			s.env.logRecovery(slog.LevelInfo, "leave", append(partitionAttrs(p.Partition.TopicPartition),
				slog.Int("broker", int(p.Partition.Broker)), slog.String("error", left.Error()))...)
		}
	}
	for _, row := range s.rows {
		s.env.logRecovery(slog.LevelInfo, what, rowAttrs(row)...)
	}
}

func partitionAttrs(tp store.TopicPartition) []slog.Attr {
	return []slog.Attr{slog.String("topic", tp.Topic), slog.Int("partition", int(tp.Partition))}
}

// rowAttrs are the fields of a row; what it is not about is left out.
func rowAttrs(r recovery.Row) (attrs []slog.Attr) {
	if r.Topic != "" {
		attrs = partitionAttrs(r.TopicPartition)
	}
	attrs = append(attrs, slog.Int("broker", int(r.Broker)))
	if r.Segment != corrupt.Unknown {
		attrs = append(attrs, slog.Int64("segment", r.Segment))
	}
	if r.Damage != "" {
		attrs = append(attrs, slog.String("damage", string(r.Damage)))
	}
	attrs = append(attrs, slog.String("action", r.Action))
	if r.LogEnd != corrupt.Unknown {
		attrs = append(attrs, slog.Int64("lost_bytes", r.LostBytes), slog.Int64("lost_records", r.LostRecords), slog.Int64("log_end", r.LogEnd))
	}
	return attrs
}

func (e *Env) logUndo(rows []recovery.UndoRow) {
	for _, r := range rows {
		e.logRecovery(slog.LevelInfo, "undo", slog.String("id", r.ID), slog.String("command", r.Command),
			slog.String("file", r.File), slog.String("action", r.Action), slog.Int64("bytes", r.Bytes))
	}
}

func (e *Env) logSalvage(s recovery.Salvaged) {
	e.logRecovery(slog.LevelInfo, "salvage", append(partitionAttrs(s.TopicPartition),
		slog.Int64("log_start", s.LogStart), slog.Int64("log_end", s.LogEnd), slog.Int64("records", s.Records),
		slog.Int("lost_ranges", s.LostRanges()), slog.Int64("lost_bytes", s.LostBytes))...)
}
