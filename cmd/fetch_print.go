package cmd

import (
	"io"
	"strings"

	"logdir/cmd/internal/render"
	"logdir/store/record"
)

// recordPrinter writes records to stdout.
type recordPrinter interface {
	// Record takes one record, valid during the call.
	Record(*render.RecordContext) error
	// Flush shows what was taken so far, as far as the form allows it.
	Flush() error
	// Close shows the rest.
	Close() error
}

// printer makes the printer that the flags ask for. A format that was given goes before
// --output, which may come from the environment.
func (o *fetchOptions) printer(env *Env) (recordPrinter, error) {
	if o.formatter.given {
		return &linePrinter{out: env.Out, append: o.console.AppendRecord}, nil
	}
	if o.format == "" && env.JSON() {
		envelope := render.Envelope{Meta: o.meta}
		return &linePrinter{out: env.Out, append: envelope.AppendRecord}, nil
	}
	if o.format == "" && (env.Global.Output == render.TSV || o.given("output")) {
		return newRowPrinter(env, o.null), nil
	}
	text := o.format
	if text == "" && o.keyDelimiter == "" {
		return &linePrinter{out: env.Out, append: o.valueAppender()}, nil
	}
	if text == "" {
		text = o.plainFormat()
	}
	format, err := render.Compile(text)
	if err != nil {
		return nil, usagef("%w", err)
	}
	format.Null = o.null
	return &linePrinter{out: env.Out, append: format.AppendRecord}, nil
}

// valueAppender is the format of %v and --delimiter, made by hand: it is what most
// records are printed by.
func (o *fetchOptions) valueAppender() func([]byte, *render.RecordContext) []byte {
	null, delimiter := []byte(o.null), []byte(o.delimiter)
	return func(dst []byte, c *render.RecordContext) []byte {
		value := c.Record.Value
		if value == nil {
			value = null
		}
		return append(append(dst, value...), delimiter...)
	}
}

// plainFormat is the record format of --key-delimiter and --delimiter.
func (o *fetchOptions) plainFormat() string {
	literal := strings.NewReplacer(`\`, `\\`, "%", "%%").Replace
	return "%k" + literal(o.keyDelimiter) + "%v" + literal(o.delimiter)
}

// flushSize is how many bytes of output make a write.
const flushSize = 256 << 10

// linePrinter gathers records in one buffer and writes it when it is worth while.
type linePrinter struct {
	out    io.Writer
	append func([]byte, *render.RecordContext) []byte
	buf    []byte
}

func (p *linePrinter) Record(c *render.RecordContext) error {
	p.buf = p.append(p.buf, c)
	if len(p.buf) < flushSize {
		return nil
	}
	return p.Flush()
}

func (p *linePrinter) Flush() error {
	if len(p.buf) == 0 {
		return nil
	}
	_, err := p.out.Write(p.buf)
	p.buf = p.buf[:0]
	return err
}

func (p *linePrinter) Close() error { return p.Flush() }

// rowPrinter prints records as a table or as tsv.
type rowPrinter struct {
	stream *render.Stream
	null   any
}

func newRowPrinter(env *Env, null string) *rowPrinter {
	p := &rowPrinter{stream: env.Stream([]string{"TOPIC", "PARTITION", "OFFSET", "TIMESTAMP", "KEY", "VALUE"})}
	if null != "" {
		p.null = null
	}
	return p
}

func (p *rowPrinter) Record(c *render.RecordContext) error {
	r := c.Record
	return p.stream.Row(c.Topic, c.Partition, r.Offset, p.time(r), p.text(r.Key), p.text(r.Value))
}

func (p *rowPrinter) time(r *record.Record) any {
	if r.Timestamp == record.NoTimestamp {
		return nil
	}
	return r.Timestamp
}

func (p *rowPrinter) text(b []byte) any {
	if b == nil {
		return p.null
	}
	return string(b)
}

func (p *rowPrinter) Flush() error { return p.stream.Flush() }
func (p *rowPrinter) Close() error { return p.stream.Close() }
