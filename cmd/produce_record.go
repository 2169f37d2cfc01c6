package cmd

import (
	"time"

	"logdir/cmd/internal/input"
	"logdir/store"
	"logdir/store/client"
)

// take adds the records of a run to the accumulator.
func (p *producer) take(run input.Run) error {
	stamp := p.env.Now().UnixMilli()
	if run.Whole {
		return p.takeOne(run.Data, stamp, run.At)
	}
	for rest := run.Data; len(rest) > 0; {
		var text []byte
		text, rest = p.splitter.Next(rest)
		if err := p.takeOne(text, stamp, run.At); err != nil {
			return err
		}
	}
	return nil
}

// takeOne makes a record of a piece of the input and adds it.
func (p *producer) takeOne(text []byte, stamp int64, at time.Time) error {
	if p.tee != nil {
		p.tee.Write(text)
		p.tee.Write(p.splitter.Delimiter) // a failure stays for flush
	}
	p.records++
	wanted, err := p.parse(text, stamp)
	if err != nil {
		return err
	}
	if err := p.put(wanted, at); err != nil {
		return err
	}
	if p.records == p.o.maxMessages || p.crashes() {
		return errEnough
	}
	return nil
}

// put adds p.record to its partition: the one of --partition or of its envelope, or
// the one that the placer chooses.
func (p *producer) put(wanted int, at time.Time) error {
	if wanted < 0 {
		return client.Put(p.placer, p.accumulator, &p.record, at)
	}
	return p.accumulator.Append(wanted, &p.record, at)
}

// parse makes p.record of a piece of the input. The partition is -1 if the placer is to
// choose it.
func (p *producer) parse(text []byte, stamp int64) (partition int, err error) {
	r := &p.record
	r.Timestamp, r.Headers = stamp, p.headers
	partition = int(p.o.partition)
	switch {
	case p.parser != nil:
		if partition, err = p.parseJSON(text); err != nil {
			return 0, err
		}
	case p.o.reader.given:
		if err := p.parseConsole(text); err != nil {
			return 0, err
		}
	default:
		r.Key, r.Value = p.splitter.Key(text)
	}
	if p.o.tombstone && len(r.Value) == 0 {
		r.Value = nil
	}
	if p.key != nil {
		r.Key = p.key
	}
	return partition, nil
}

// parseConsole makes p.record of a line as Kafka's console producer does. The headers of
// --header come behind its own.
func (p *producer) parseConsole(line []byte) error {
	r := &p.record
	r.Headers = p.added
	if err := p.o.console.Parse(line, r); err != nil {
		return p.unreadable(err)
	}
	p.added = append(r.Headers, p.headers...)
	r.Headers = p.added
	return nil
}

// unreadable is an error about the newest piece of the input.
func (p *producer) unreadable(err error) error {
	e := store.Errorf(store.Failed, "INVALID_RECORD", "record %d of the input: %w", p.records, err)
	if p.records > 1 {
		e = e.WithHint("the records before it were sent")
	}
	return e
}

// parseJSON makes p.record of a line that fetch -J printed. What the line does not say
// stays as it is.
func (p *producer) parseJSON(line []byte) (partition int, err error) {
	parsed, err := p.parser.Parse(line)
	if err != nil {
		return 0, p.unreadable(err)
	}
	r := &p.record
	r.Key, r.Value = parsed.Key, parsed.Value
	if parsed.HasTimestamp {
		r.Timestamp = parsed.Timestamp
	}
	p.added = append(append(p.added[:0], parsed.Headers...), p.headers...)
	r.Headers = p.added
	if n := int(parsed.Partition); p.byEnvelope && n >= 0 && n < p.partitions {
		return n, nil
	}
	return int(p.o.partition), nil
}
