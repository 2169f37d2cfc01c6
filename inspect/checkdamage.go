package inspect

import (
	"fmt"

	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/segment"
)

// takeVerified turns the verdict on a segment into findings.
func (p *partitionCheck) takeVerified(v *Verified) {
	p.r.segments++
	p.r.batches += v.Batches
	p.r.records += v.Records
	lost := corrupt.CountLost(v.Damage, v.Limit)
	for i, d := range v.Damage {
		switch {
		case d.Kind == corrupt.MissingIndex:
			p.add(Warning, d, p.command("reindex"))
			continue
		case (d.Kind == corrupt.Torn || d.Kind == corrupt.Zeros) && lost[i] > 0: // it was whole once
			p.r.lostBatches++
			p.r.lostRecords += lost[i]
			d.Detail += fmt.Sprintf(", and the next segment begins at %d: %d records", v.Limit, lost[i])
		case loses(d) && lost[i] == 0 && d.Records == corrupt.Unknown:
			p.r.lostBytes += max(d.Size, 0)
		case loses(d):
			p.r.lostBatches++
			p.r.lostRecords += lost[i]
		case d.Kind != corrupt.BadIndex:
			d.Detail += ", 0 records"
		}
		p.add(Damage, d, p.repair(d, v.Limit != 0))
	}
	if v.Size == 0 && v.Offsets.Bad != nil && v.Offsets.Entries > 0 {
		p.add(Warning, at(MissingLog, v.Name, "it is empty, but its index has entries"), "")
	}
	if v.Copies > 0 {
		p.add(Warning, at(Overlap, v.Name, "an interrupted cleaning left batches of later segments"), "")
	}
	p.takeIndexes(v)
}

// takeIndexes says what is worth knowing of good index files.
func (p *partitionCheck) takeIndexes(v *Verified) {
	for _, x := range []struct {
		report index.Report
		suffix string
	}{{v.Offsets, segment.IndexSuffix}, {v.Times, segment.TimeIndexSuffix}} {
		name := withSuffix(v.Name, x.suffix)
		if x.report.Padding > 0 {
			p.add(Info, at(PaddedIndex, name, "preallocated, normal after a kill"), "")
		}
		if x.report.Older > 0 {
			p.add(Info, at(OlderIndex, name, "entries as brokers before 4.0 wrote them"), "")
		}
	}
}

// loses says that records are lost with the damage. Torn, zero and stale ends hold none,
// and where a wrong length or offset can be proved, --fix brings all of them back.
func loses(d *corrupt.Error) bool {
	switch d.Kind {
	case corrupt.Torn, corrupt.Zeros, corrupt.Stale, corrupt.BadIndex:
		return false
	case corrupt.BadLength, corrupt.BadMagic:
		return d.BaseOffset == corrupt.Unknown // known, if another value makes the checksum right
	}
	return !d.EpochOnly() && (!d.HasCRC || d.Stored != d.Computed)
}

// repair is the command to type about damage in a log or an index. In a closed segment
// recover refuses even an end that holds nothing.
func (p *partitionCheck) repair(d *corrupt.Error, closed bool) string {
	switch d.Kind {
	case corrupt.BadIndex:
		return p.command("reindex")
	case corrupt.Torn, corrupt.Zeros, corrupt.Stale:
		if !closed {
			return p.command("recover")
		}
	}
	return p.command("recover --fix --dry-run")
}
