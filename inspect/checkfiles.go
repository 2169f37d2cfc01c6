package inspect

import (
	"errors"
	"path/filepath"
	"strings"

	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/segment"
)

// names judges the names of a partition's files.
func (p *partitionCheck) names() error {
	for _, name := range p.listing.BadNames {
		p.add(Damage, p.here(corrupt.BadName, name, "no offset in front of the dot: a broker does not start"), "mv it out of the log directory")
	}
	for _, n := range p.listing.Orphans {
		if err := p.orphan(n); err != nil {
			return err
		}
	}
	for _, n := range p.listing.Leftovers {
		if strings.HasSuffix(n.Name, segment.SwapSuffix) {
			p.add(Warning, p.here(Leftover, n.Name, "a cleaning that a broker would complete"), p.command("recover --policy kafka --dry-run"))
			continue
		}
		p.add(Info, p.here(Leftover, n.Name, "a broker removes it at its next start"), "")
	}
	return nil
}

// orphan judges an index file without its log. Below the log start retention left it. Entries
// of one above tell of records.
func (p *partitionCheck) orphan(n segment.Name) error {
	if n.Suffix == segment.IndexSuffix && n.Base >= p.r.log.start {
		src, size, err := open(p.fs, filepath.Join(p.ref.Dir, n.Name))
		if err != nil {
			return err
		}
		last, ok, err := index.NewOffsetIndex(src, size, n.Base).Last()
		if err := errors.Join(err, src.Close()); err != nil {
			return err
		}
		if ok {
			p.add(Warning, p.here(MissingLog, n.Name, "its log is gone, which held offset %d", last.Offset), p.recoverBeside())
			return nil
		}
	}
	p.add(Warning, p.here(OrphanIndex, n.Name, "there is no log of that offset"), p.recoverBeside())
	return nil
}

// recoverBeside is the command about a file without its log. Where no log is left, recover
// touches nothing: the logs may come back from somewhere.
func (p *partitionCheck) recoverBeside() string {
	if len(p.listing.Segments) == 0 {
		return ""
	}
	return p.command("recover")
}

// otherFiles looks at what is neither a segment nor beside one.
func (p *partitionCheck) otherFiles() error {
	for _, name := range p.listing.Others {
		var err error
		switch {
		case name == checkpoint.EpochFile, name == checkpoint.PartitionMetadataFile:
		case name == checkpoint.QuorumStateFile:
			err = p.quorumState(name)
		case strings.HasSuffix(name, ".checkpoint"):
			err = p.kraftSnapshot(name)
		case strings.HasSuffix(name, checkpoint.TempSuffix), strings.HasSuffix(name, ".part"):
			p.add(Info, p.here(Leftover, name, "a file whose writing was interrupted"), "")
		default:
			p.add(Info, p.here(Foreign, name, "nothing of Kafka's"), "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *partitionCheck) quorumState(name string) error {
	data, err := p.file(name)
	if err != nil {
		return err
	}
	if _, err := checkpoint.ParseQuorumState(data); err != nil {
		return p.damaged(name, err, "")
	}
	return nil
}

// kraftSnapshot checks the frames of a KRaft snapshot, whose offsets count from 0.
func (p *partitionCheck) kraftSnapshot(name string) error {
	path := filepath.Join(p.ref.Dir, name)
	src, size, err := open(p.fs, path)
	if err != nil {
		return err
	}
	defer src.Close()
	s := segment.NewScanner(src, size, segment.Options{Deep: true, MaxBatch: p.o.MaxBatch})
	for s.Next() {
		if d := s.Damage(); d != nil {
			if err := p.damaged(name, d, ""); err != nil {
				return err
			}
		}
	}
	return s.Err()
}
