package cmd

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"time"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/deadletter"
)

// handler is the recordPrinter of --exec: it runs a command for each record, again if it
// fails, and in the end diverts what cannot be handled.
type handler struct {
	ctx     context.Context
	env     *Env
	cluster *cluster.Cluster
	o       *groupPollOptions

	queues   map[string]*deadletter.Queue // by topic
	diverted map[store.TopicPartition]int
}

func (o *groupPollOptions) handler(ctx context.Context, env *Env, c *cluster.Cluster) *handler {
	return &handler{
		ctx: ctx, env: env, cluster: c, o: o,
		queues: map[string]*deadletter.Queue{}, diverted: map[store.TopicPartition]int{},
	}
}

// Record handles one record. It fails only where the record was neither handled nor
// diverted.
func (h *handler) Record(r *render.RecordContext) error {
	for try := 0; ; try++ {
		done, err := h.try(r)
		if done || err != nil {
			return err
		}
		h.info("handler-failed", r, slog.Int("try", try+1))
		if try == h.o.retries {
			return h.divert(r)
		}
		select {
		case <-time.After(milliseconds(h.o.backoff)):
		case <-h.ctx.Done():
			return h.ctx.Err()
		}
	}
}

// try runs the command once. An error is one of running it; that it fails is none.
func (h *handler) try(r *render.RecordContext) (done bool, err error) {
	shell, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		shell, flag = "cmd", "/c"
	}
	c := exec.CommandContext(h.ctx, shell, flag, h.o.exec)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(r.Record.Value), h.env.Out, h.env.Err
	c.Env = append(h.env.Environ(), recordEnviron(r)...)
	err = c.Run()
	if h.ctx.Err() != nil {
		return false, h.ctx.Err()
	}
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		return false, nil
	}
	return err == nil, err
}

// maxEnviron is the longest key that goes into the environment: systems take no more than
// 128 KiB for one variable.
const maxEnviron = 64 << 10

// recordEnviron tells a command about its record. A key that no variable can hold is left
// out, as null is.
func recordEnviron(r *render.RecordContext) []string {
	env := []string{
		"RECORD_TOPIC=" + r.Topic,
		"RECORD_PARTITION=" + strconv.Itoa(int(r.Partition)),
		"RECORD_OFFSET=" + strconv.FormatInt(r.Record.Offset, 10),
	}
	if key := r.Record.Key; key != nil && len(key) <= maxEnviron && bytes.IndexByte(key, 0) < 0 {
		env = append(env, "RECORD_KEY="+string(key))
	}
	return env
}

func (h *handler) divert(r *render.RecordContext) error {
	q := h.queues[r.Topic]
	if q == nil {
		q = deadletter.Open(h.cluster, r.Topic)
		h.queues[r.Topic] = q
	}
	why := deadletter.Cause{Reason: deadletter.HandlerFailed, Retries: h.o.retries, Group: h.o.group}
	if err := q.DivertRecord(h.ctx, r.Partition, r.Record, why); err != nil {
		return err
	}
	h.diverted[store.TopicPartition{Topic: r.Topic, Partition: r.Partition}]++
	return nil
}

// Flush has nothing to show: the command writes for itself.
func (h *handler) Flush() error { return nil }

// Close syncs what was diverted.
func (h *handler) Close() error {
	var errs []error
	for _, topic := range slices.Sorted(maps.Keys(h.queues)) {
		errs = append(errs, h.queues[topic].Close(context.WithoutCancel(h.ctx)))
	}
	return errors.Join(errs...)
}

// outcome is an error for each partition of which records were diverted.
func (h *handler) outcome() error {
	var errs []error
	for _, tp := range slices.SortedFunc(maps.Keys(h.diverted), store.TopicPartition.Compare) {
		errs = append(errs, store.Errorf(store.Diverted, "", "%s: %d record(s) failed and went to the dead letter queue", tp, h.diverted[tp]).
			WithHint("logdir dlq show %s", tp))
	}
	return errors.Join(errs...)
}

func (h *handler) info(what string, r *render.RecordContext, attrs ...slog.Attr) {
	h.cluster.Info("consumer", what, append([]slog.Attr{
		slog.String("group", h.o.group), slog.String("member", h.o.member),
		slog.String("topic", r.Topic), slog.Int("partition", int(r.Partition)), slog.Int64("offset", r.Record.Offset),
	}, attrs...)...)
}
