package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/inspect"
	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/segment"
)

// verifyOptions are the flags of "logdir verify-crc".
type verifyOptions struct {
	deep     bool
	maxBatch int64
}

func newVerifyCRCCmd(env *Env) *cobra.Command {
	o := &verifyOptions{maxBatch: 128 << 20}
	c := &cobra.Command{
		Use:   "verify-crc [TARGET|PATH...]",
		Short: "check every frame of every segment",
		Long: `Check length, magic, CRC and offsets of every frame, and with --deep also the records
inside and the index files against the log. A scan goes on behind damage, so that one
file may give several rows. Nothing is written. Without TARGET: everything.

A missing index is a warning only: it can be rebuilt from the log.`,
		Example: `  logdir verify-crc
  logdir verify-crc orders:0 -v
  logdir verify-crc --deep -d /var/lib/kafka/data`,
		Annotations: about("0 1 2 3 4", "logdir-check(1)", "logdir-recover(1)", "logdir-dump-segment(1)"),
		RunE: func(c *cobra.Command, targets []string) error {
			return o.run(c.Context(), env, targets)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.deep, "deep", false, "also decompress and parse records, and check the indexes")
	f.Var(flagval.NewBytes(&o.maxBatch), "max-batch-bytes", "a batch that decompresses past so many `bytes` is bad-records")
	return c
}

// verifyColumns are those of each row; verifyExtra come with --json only.
var (
	verifyColumns = []string{"FILE", "BATCHES", "RECORDS", "STATUS", "BAD-POSITION", "BAD-BYTES"}
	verifyExtra   = []string{"next_good_offset", "next_good_position", "stored_crc", "computed_crc"}
)

func (o *verifyOptions) run(ctx context.Context, env *Env, targets []string) error {
	if o.maxBatch < 1 {
		return usagef("--max-batch-bytes must be at least 1")
	}
	logs, err := env.verifyTargets(targets)
	if err != nil {
		return err
	}
	sum := verifySum{env: env, hint: env.retype("logdir recover --dry-run", targets)}
	sum.open()
	if err := o.verify(ctx, &sum, logs); err != nil {
		return err
	}
	if err := sum.rows.Close(); err != nil {
		return err
	}
	return errors.Join(ctx.Err(), sum.err())
}

func (o *verifyOptions) verify(ctx context.Context, sum *verifySum, logs []inspect.LogRef) error {
	bar := sum.env.progressOf("verify-crc", logs)
	defer bar.Close()
	results := inspect.Verify(ctx, sum.env.FS, logs, inspect.VerifyOptions{
		Deep: o.deep, MaxBatch: int(min(o.maxBatch, 1<<31-1)), Progress: bar.Add,
	})
	for v := range results {
		if err := sum.add(&v); err != nil {
			return err
		}
	}
	return nil
}

// verifyTargets lists the segments to verify.
func (e *Env) verifyTargets(targets []string) ([]inspect.LogRef, error) {
	v, err := e.look(targets)
	if err != nil {
		return nil, err
	}
	refs, err := v.Resolve(targets, true)
	if err != nil {
		return nil, err
	}
	for _, r := range refs {
		if r.File != "" && !isLog(r.File) {
			return nil, usagef("%s holds no batches", r.Show(r.File)).
				WithHint("logdir verify-crc --deep %s", r.Show(segment.FileName(0, segment.LogSuffix)))
		}
	}
	return e.logsOf(refs)
}

// verifySum collects the rows, and what they come to.
type verifySum struct {
	env     *Env
	hint    string // the command to type next if something is damaged
	rows    *render.Stream
	files   int
	damaged int
	first   *corrupt.Error
	failed  []error
}

func (s *verifySum) open() {
	columns, extra := verifyColumns, append([]string{}, verifyExtra...)
	if s.env.Global.Verbose > 0 {
		columns = append(append([]string{}, columns...), "DETAIL")
	} else {
		extra = append(extra, "detail")
	}
	s.rows = s.env.Stream(columns, extra...)
}

// add prints the rows of one segment.
func (s *verifySum) add(v *inspect.Verified) error {
	s.files++
	if v.Err != nil {
		s.failed = append(s.failed, readError(v.Name, v.Err))
		return nil
	}
	if v.InUse {
		s.env.Note("%s is in use: it grew while it was read; what was at its end is not judged", v.Name)
	}
	if v.Copies > 0 {
		s.env.Note("%s: %d of its batches belong to later segments: an interrupted cleaning left them twice", v.Name, v.Copies)
	}
	if !v.Healthy() {
		s.damaged++
	}
	if len(v.Damage) == 0 || v.Damage[0].Path != v.Name {
		if err := s.row(v, nil); err != nil {
			return err
		}
	}
	for _, d := range v.Damage {
		if s.first == nil && d.Kind != corrupt.MissingIndex {
			s.first = d
		}
		if err := s.row(v, d); err != nil {
			return err
		}
	}
	return nil
}

// row prints what is known of the log, or of one damaged range of it or of its indexes.
func (s *verifySum) row(v *inspect.Verified, d *corrupt.Error) error {
	file, status := v.Name, "ok"
	var batches, records any = v.Batches, v.Records
	var pos, size, nextOffset, nextPos, stored, computed, detail any
	if d != nil {
		file, status = d.Path, string(d.Kind)
		if file != v.Name {
			batches, records = nil, nil
		}
		if d.Kind != corrupt.MissingIndex {
			pos, size = d.Pos, render.Known(d.Size)
		}
		nextOffset, nextPos = render.Known(d.NextOffset), render.Known(d.NextPos)
		if d.HasCRC {
			stored, computed = int64(d.Stored), int64(d.Computed)
		}
		if text := verifyDetail(d); text != "" {
			detail = text
		}
	}
	values := []any{file, batches, records, status, pos, size}
	if s.env.Global.Verbose > 0 {
		return s.rows.Row(append(values, detail, nextOffset, nextPos, stored, computed)...)
	}
	return s.rows.Row(append(values, nextOffset, nextPos, stored, computed, detail)...)
}

// verifyDetail says in words what a row is about.
func verifyDetail(d *corrupt.Error) string {
	var parts []string
	if d.HasCRC {
		parts = append(parts, fmt.Sprintf("stored 0x%08x computed 0x%08x", d.Stored, d.Computed))
	}
	text := d.Detail
	if strings.Contains(text, " of ") { // "have 30 of 136 bytes"
		text = strings.TrimPrefix(text, "have ")
	}
	if text != "" {
		parts = append(parts, text)
	}
	if d.NextPos != corrupt.Unknown {
		parts = append(parts, fmt.Sprintf("next good offset %d at byte %d", d.NextOffset, d.NextPos))
	}
	return strings.Join(parts, ", ")
}

// err is the sum of what is damaged and of what could not be read.
func (s *verifySum) err() error {
	errs := s.failed
	if s.first != nil {
		errs = append(errs, store.Errorf(store.Damage, s.first.Kind.KafkaName(), "%d of %d files damaged, the first: %s",
			s.damaged, s.files, withoutName(s.first)).WithHint("%s", s.hint))
	}
	return errors.Join(errs...)
}

// withoutName is the message of damage, for a sentence that ends with Kafka's name.
func withoutName(d *corrupt.Error) string {
	return strings.TrimSuffix(d.Error(), " ("+d.Kind.KafkaName()+")")
}

// readError tells an error of the disk from damage of the bytes.
func readError(name string, err error) error {
	if bad, ok := errors.AsType[*segment.ReadError](err); ok {
		return store.Errorf(store.Failed, "KAFKA_STORAGE_ERROR", "%s: bytes %d..%d cannot be read: %w", name, bad.Pos, bad.Pos+bad.Size, bad.Err).
			WithHint("this is the disk, not the data: image it, then logdir salvage from the image")
	}
	return err
}
