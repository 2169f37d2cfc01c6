package cmd

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/store"
)

// property is a setting of a Kafka client, and the flag that it sets.
type property struct {
	name, flag string
	negated    bool // the flag says the opposite
}

// producerPropertyFlags are Kafka's names of producer settings, and librdkafka's where they
// differ. The Java client's name comes first.
var producerPropertyFlags = []property{
	{name: "acks", flag: "acks"},
	{name: "request.required.acks", flag: "acks"},
	{name: "batch.size", flag: "batch-size"},
	{name: "compression.type", flag: "compression"},
	{name: "compression.codec", flag: "compression"},
	{name: "enable.idempotence", flag: "idempotent"},
	{name: "linger.ms", flag: "linger-ms"},
	{name: "queue.buffering.max.ms", flag: "linger-ms"},
	{name: "partitioner", flag: "partitioner"},
	{name: "request.timeout.ms", flag: "request-timeout-ms"},
	{name: "retries", flag: "retries"},
	{name: "message.send.max.retries", flag: "retries"},
	{name: "retry.backoff.ms", flag: "retry-backoff-ms"},
	{name: "transactional.id", flag: "transactional-id"},
}

// consumerPropertyFlags are Kafka's names of consumer settings.
var consumerPropertyFlags = []property{
	{name: "auto.offset.reset", flag: "reset"},
	{name: "enable.auto.commit", flag: "no-commit", negated: true},
	{name: "group.id", flag: "group"},
	{name: "isolation.level", flag: "isolation-level"},
}

// clientProperties are settings of every client.
var clientProperties = []property{{name: "bootstrap.servers", flag: "bootstrap-server"}}

// properties is a flag that takes NAME=VALUE, by Kafka's names: each sets another flag.
type properties struct {
	kind  string // of the properties: "producer"
	known []property
	flags *pflag.FlagSet
	// help is the command that lists them; then "list" is understood.
	help string
	list bool // -X list
}

func (p *properties) String() string { return "" }

// Type names the value in help.
func (p *properties) Type() string { return "name=value" }

// Set takes name=value, or list.
func (p *properties) Set(s string) error {
	if s == "list" && p.help != "" {
		p.list = true
		return nil
	}
	name, value, ok := strings.Cut(s, "=")
	if !ok && p.help != "" {
		return errors.New("want NAME=VALUE, or list")
	}
	if !ok {
		return errors.New("want NAME=VALUE")
	}
	x, err := p.find(name)
	if err != nil {
		return err
	}
	if x.negated {
		value = negated(value)
	}
	return p.flags.Set(x.flag, value)
}

func (p *properties) find(name string) (property, error) {
	var names []string
	for _, x := range append(p.known[:len(p.known):len(p.known)], clientProperties...) {
		if x.name == name && p.flags.Lookup(x.flag) != nil {
			return x, nil
		}
		names = append(names, x.name)
	}
	e := store.Errorf(store.Usage, "INVALID_CONFIG", "the %s property %q means nothing here", p.kind, name)
	switch near := store.Nearest(name, names); {
	case near != "":
		return property{}, e.WithHint("did you mean %s?", near)
	case p.help != "":
		return property{}, e.WithHint("%s", p.help)
	}
	return property{}, e.WithHint("one of %s", strings.Join(names[:len(p.known)], " "))
}

// negated turns true and false round; what is neither stays, for the flag to refuse.
func negated(value string) string {
	switch value {
	case "true":
		return "false"
	case "false":
		return "true"
	}
	return value
}

// report lists the properties with the values they have now.
func (p *properties) report() render.Report {
	t := render.Table{Columns: []string{"PROPERTY", "FLAG", "VALUE"}}
	for _, x := range p.known {
		t.Rows = append(t.Rows, []any{x.name, "--" + x.flag, flagText(p.flags.Lookup(x.flag))})
	}
	return t
}

// textProperties are properties that no flag stands for: those of the reader of Kafka's
// console producer, and of the formatter of its console consumer.
type textProperties struct {
	properties
	given bool // there is one
}

// newTextProperties makes a flag of what define defines by Kafka's names.
func newTextProperties(kind string, define func(*pflag.FlagSet)) *textProperties {
	t := &textProperties{properties: properties{kind: kind, flags: pflag.NewFlagSet(kind, pflag.ContinueOnError)}}
	define(t.flags)
	t.flags.VisitAll(func(f *pflag.Flag) { t.known = append(t.known, property{name: f.Name, flag: f.Name}) })
	return t
}

// Set takes name=value.
func (t *textProperties) Set(s string) error {
	t.given = true
	return t.properties.Set(s)
}

// separator is a text property that cannot be empty, in which escapes stand for bytes.
type separator struct{ flagval.Escaped }

func newSeparator(p *string) separator { return separator{flagval.NewEscaped(p)} }

// Set reads the text and its escapes.
func (s separator) Set(text string) error {
	if text == "" {
		return errors.New("a separator cannot be empty")
	}
	return s.Escaped.Set(text)
}

// plainBytes is the class of a serializer or deserializer: those that leave bytes as they
// are.
type plainBytes struct{}

func (plainBytes) String() string { return "" }

// Type names the value in help.
func (plainBytes) Type() string { return "class" }

// Set looks at the class.
func (plainBytes) Set(class string) error {
	name := class[strings.LastIndexByte(class, '.')+1:]
	name = strings.TrimSuffix(strings.TrimSuffix(name, "Deserializer"), "Serializer")
	switch name {
	case "String", "ByteArray", "Bytes":
		return nil
	}
	return store.Errorf(store.Usage, "INVALID_CONFIG", "%s: bytes are taken and printed as they are", class).
		WithHint("fetch -f '%%k{hex} %%v{hex}' shows any; dump-segment --value-decoder-class knows Integer and Long")
}
