package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"logdir/cmd/internal/render"
	"logdir/store"
)

// producerPropertyFlags maps Kafka's names of producer settings, and librdkafka's where
// they differ, to flags. The Java client's name comes first.
var producerPropertyFlags = []struct{ property, flag string }{
	{"acks", "acks"},
	{"request.required.acks", "acks"},
	{"batch.size", "batch-size"},
	{"compression.type", "compression"},
	{"compression.codec", "compression"},
	{"enable.idempotence", "idempotent"},
	{"linger.ms", "linger-ms"},
	{"queue.buffering.max.ms", "linger-ms"},
	{"partitioner", "partitioner"},
	{"request.timeout.ms", "request-timeout-ms"},
	{"retries", "retries"},
	{"message.send.max.retries", "retries"},
	{"retry.backoff.ms", "retry-backoff-ms"},
	{"transactional.id", "transactional-id"},
}

// producerProperties is the flag -X: each one sets another flag.
type producerProperties struct {
	flags *pflag.FlagSet
	list  bool // -X list
}

func (p *producerProperties) String() string { return "" }

// Type names the value in help.
func (p *producerProperties) Type() string { return "name=value" }

// Set takes name=value, or list.
func (p *producerProperties) Set(s string) error {
	if s == "list" {
		p.list = true
		return nil
	}
	name, value, ok := strings.Cut(s, "=")
	if !ok {
		return fmt.Errorf("want NAME=VALUE, or list")
	}
	flag, err := flagOfProperty(name)
	if err != nil {
		return err
	}
	return p.flags.Set(flag, value)
}

func flagOfProperty(name string) (string, error) {
	var known []string
	for _, p := range producerPropertyFlags {
		if p.property == name {
			return p.flag, nil
		}
		known = append(known, p.property)
	}
	e := store.Errorf(store.Usage, "INVALID_CONFIG", "no producer property %q", name)
	if near := store.Nearest(name, known); near != "" {
		return "", e.WithHint("did you mean %s?", near)
	}
	return "", e.WithHint("logdir produce -X list")
}

// report lists the properties with the values they have now.
func (p *producerProperties) report() render.Report {
	t := render.Table{Columns: []string{"PROPERTY", "FLAG", "VALUE"}}
	for _, x := range producerPropertyFlags {
		t.Rows = append(t.Rows, []any{x.property, "--" + x.flag, flagText(p.flags.Lookup(x.flag))})
	}
	return t
}
