package inspect

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/producer"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// farAhead is how far a timestamp must be ahead of the clock to be called future.
const farAhead = 365 * 24 * time.Hour

// partitionReport is what a check finds in one partition directory.
type partitionReport struct {
	findings                 []Finding
	segments                 int
	batches, records         int64
	lostBatches, lostRecords int64
	lostBytes                int64
	log                      logRange
	id                       *checkpoint.UUID
	commits                  commits
	err                      error
}

// partitionCheck checks one partition directory after the other and keeps its buffers.
type partitionCheck struct {
	fs    vfs.ReadFS
	scope *CheckScope
	o     CheckOptions
	v     verifier

	// Of the partition at hand.
	ref     store.PartitionRef
	r       partitionReport
	listing segment.Listing
	state   *producer.State
	aborted []index.AbortedTxn // of the segment at hand
	epochs  checkpoint.Epochs  // as the batches tell them
	next    int64              // offset behind the last batch
	gaps    []string           // offset ranges that no batch holds
	future  int64              // the largest timestamp that is far ahead, or 0
	commits *commitReader      // of __consumer_offsets
}

func newPartitionCheck(fsys vfs.ReadFS, scope *CheckScope, o CheckOptions) *partitionCheck {
	p := &partitionCheck{fs: fsys, scope: scope, o: o}
	p.v = verifier{
		fs: fsys, scanner: new(segment.Scanner), each: p.batch,
		options: VerifyOptions{Deep: true, MaxBatch: o.MaxBatch, Progress: o.Progress},
	}
	return p
}

func (p *partitionCheck) check(ref store.PartitionRef) partitionReport {
	p.ref, p.r = ref, partitionReport{}
	p.state, p.epochs, p.next, p.gaps, p.future = producer.NewState(1), nil, -1, nil, 0
	p.commits, p.v.broken, p.v.epoch = nil, false, record.NoLeaderEpoch
	if ref.Topic == offsetsTopic {
		p.commits = newCommitReader()
	}
	p.r.err = guard(ref.Rel, p.run)
	if p.commits != nil && p.r.log.known {
		p.r.commits = p.commits.commits(logDirOf(ref))
	}
	return p.r
}

func (p *partitionCheck) run() (err error) {
	if p.ref.State != segment.Normal {
		p.add(Info, p.here(PutAside, "", "a %s folder of a broker", p.ref.State), "")
	}
	if p.ref.State == segment.Delete {
		return nil // on its way out: nothing in it counts
	}
	if p.listing, err = segment.List(p.fs, p.ref.Dir); err != nil {
		return err
	}
	if p.ref.File != "" {
		return p.oneFile()
	}
	if err := p.segments(); err != nil {
		return err
	}
	return errors.Join(p.names(), p.snapshots(), p.epochFile(), p.metadataFile(), p.otherFiles())
}

// oneFile checks only the segment that was named.
func (p *partitionCheck) oneFile() error {
	ref := RefOf(p.fs, filepath.Join(p.ref.Dir, p.ref.File), p.ref.Show(p.ref.File))
	v := p.v.verify(ref)
	p.takeVerified(&v)
	return v.Err
}

func (p *partitionCheck) segments() error {
	for i, s := range p.listing.Segments {
		ref := LogRef{Path: filepath.Join(p.ref.Dir, s.Log), Name: p.ref.Show(s.Log), Base: s.Base}
		if i+1 < len(p.listing.Segments) {
			ref.Limit = p.listing.Segments[i+1].Base
		}
		if p.next < 0 {
			p.r.log.start, p.next = s.Base, s.Base
		}
		p.gapBefore(s.Base)
		p.next = max(p.next, s.Base)
		p.aborted = p.aborted[:0]
		if latest, ok := p.epochs.Latest(); ok {
			p.v.epoch = latest.Epoch
		}
		v := p.v.verify(ref)
		if v.Err != nil {
			return v.Err
		}
		p.takeVerified(&v)
		if err := p.txnIndex(s, v.Healthy()); err != nil {
			return err
		}
	}
	p.r.log.end, p.r.log.known, p.r.log.empty = max(p.next, 0), true, len(p.listing.Segments) == 0
	p.summary()
	return nil
}

// gapBefore notes offsets that no batch holds, unless damage explains them.
func (p *partitionCheck) gapBefore(offset int64) {
	switch last := offset - 1; {
	case p.next < 0 || offset <= p.next || p.v.broken:
	case last == p.next:
		p.gaps = append(p.gaps, strconv.FormatInt(last, 10))
	default:
		p.gaps = append(p.gaps, fmt.Sprintf("%d..%d", p.next, last))
	}
}

// batch looks at one good batch.
func (p *partitionCheck) batch(b *record.Batch) {
	if b.Format() >= record.V2 {
		p.gapBefore(b.BaseOffset())
	}
	p.next = max(p.next, b.NextOffset())
	if epoch := b.LeaderEpoch(); epoch >= 0 {
		p.epochs.Assign(epoch, b.BaseOffset())
	}
	if t := b.MaxTimestamp(); t > p.o.Now.Add(farAhead).UnixMilli() {
		p.future = max(p.future, t)
	}
	if ended, err := p.state.Update(b); err == nil && ended != nil && ended.Aborted {
		p.aborted = append(p.aborted, ended.AbortedTxn)
	}
	if p.commits != nil {
		p.commits.batch(b)
	}
}

// command is a command on this partition.
func (p *partitionCheck) command(verb string) string {
	if p.ref.Partition < 0 || p.ref.Broker == store.NoBroker {
		return p.scope.command("", verb, p.ref.Rel)
	}
	return p.scope.command(logDirOf(p.ref), verb, p.ref.TopicPartition.String())
}

func (p *partitionCheck) add(s Severity, e *corrupt.Error, next string) {
	p.r.findings = append(p.r.findings, Finding{Severity: s, Error: e, Next: next})
}

// here is a finding about a file of the partition, or about its folder.
func (p *partitionCheck) here(kind corrupt.Kind, file, format string, args ...any) *corrupt.Error {
	return at(kind, filepath.ToSlash(filepath.Join(p.ref.Rel, file)), format, args...)
}

// damaged adds what a parser found wrong with a file.
func (p *partitionCheck) damaged(file string, err error, next string) error {
	d, ok := errors.AsType[*corrupt.Error](err)
	if !ok {
		return err
	}
	d.Path = p.ref.Show(file)
	p.add(Damage, d, next)
	return nil
}

// summary says what only the whole partition tells.
func (p *partitionCheck) summary() {
	if n := len(p.gaps); n > 0 && n <= 3 {
		p.add(Info, p.here(OffsetGap, "", "no batch holds %s; compaction leaves such gaps", strings.Join(p.gaps, " and ")), "")
	} else if n > 3 {
		p.add(Info, p.here(OffsetGap, "", "gaps between offsets, as compaction leaves them"), "")
	}
	if p.future > 0 {
		p.add(Warning, p.here(Future, "", "timestamp %d is more than a year ahead", p.future), "")
	}
	for _, t := range p.state.Open() {
		p.add(Info, p.here(OpenTransaction, "", "producer %d has one open since offset %d", t.ProducerID, t.FirstOffset), p.command("txns"))
	}
}

// txnIndex checks a transaction index, and that no aborted transaction of the segment is
// missing in it. One more than the log tells is what compaction leaves.
func (p *partitionCheck) txnIndex(s segment.Files, healthy bool) error {
	known := map[int64]index.AbortedTxn{}
	if s.TxnIndex != "" {
		src, size, err := open(p.fs, filepath.Join(p.ref.Dir, s.TxnIndex))
		if err != nil {
			return err
		}
		defer src.Close()
		x := index.NewTxnIndex(src, size, s.Base)
		if err := x.Check(); err != nil {
			return p.damaged(s.TxnIndex, err, p.command("recover"))
		}
		for t, err := range x.All() {
			if err != nil {
				return err
			}
			known[t.LastOffset] = t
		}
	}
	for _, t := range p.aborted {
		if k, ok := known[t.LastOffset]; healthy && (!ok || k.ProducerID != t.ProducerID || k.FirstOffset > t.FirstOffset) {
			file := segment.FileName(s.Base, segment.TxnIndexSuffix)
			p.add(Damage, p.here(corrupt.BadTxnIndex, file, "producer %d aborted offsets %d..%d: not in the index", t.ProducerID, t.FirstOffset, t.LastOffset), p.command("recover"))
			return nil
		}
	}
	return nil
}

// snapshots parses the producer snapshots.
func (p *partitionCheck) snapshots() error {
	for _, s := range p.listing.Snapshots {
		data, err := vfs.ReadAll(p.fs, filepath.Join(p.ref.Dir, s.Name), maxStateFile)
		if err != nil {
			return err
		}
		if _, err := producer.ParseSnapshot(data); err != nil {
			if err := p.damaged(s.Name, err, p.command("recover")); err != nil {
				return err
			}
		}
		if s.Base > p.r.log.end && len(p.listing.Segments) > 0 {
			p.add(Warning, p.here(BeyondEnd, s.Name, "state of offset %d, the log ends at %d", s.Base, p.r.log.end), p.command("recover"))
		}
	}
	return nil
}

// file reads a state file; a file that is not there is nil.
func (p *partitionCheck) file(name string) ([]byte, error) {
	data, err := vfs.ReadAll(p.fs, filepath.Join(p.ref.Dir, name), maxStateFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

// epochFile holds leader-epoch-checkpoint against its own rules and against the batches.
func (p *partitionCheck) epochFile() error {
	data, err := p.file(checkpoint.EpochFile)
	if err != nil || data == nil {
		return err
	}
	entries, err := checkpoint.ParseEpochs(data)
	if err != nil {
		return p.damaged(checkpoint.EpochFile, err, p.command("recover"))
	}
	for _, d := range checkpoint.CheckEpochs(data, p.r.log.end) {
		if strings.Contains(d.Detail, "beyond the log end") {
			d.Kind, d.Path = BeyondEnd, p.ref.Show(checkpoint.EpochFile)
			p.add(Warning, d, p.command("recover"))
			continue
		}
		if err := p.damaged(checkpoint.EpochFile, d, p.command("recover")); err != nil {
			return err
		}
	}
	p.epochMismatch(entries)
	return nil
}

// epochMismatch names the first epoch of the batches that entries have otherwise. What
// lies before the first entry is not looked at: a log start that moves up takes the
// entries below it along and leaves the batches.
func (p *partitionCheck) epochMismatch(entries checkpoint.Epochs) {
	first := int64(0)
	if len(entries) > 0 {
		first = entries[0].StartOffset
	}
	for _, e := range p.epochs {
		at := max(e.StartOffset, first)
		have := entries.EpochAt(at)
		if have == e.Epoch || p.epochs.EpochAt(at) != e.Epoch {
			continue
		}
		says := strconv.Itoa(int(have))
		if have == record.NoLeaderEpoch {
			says = "nothing"
		}
		p.add(Warning, p.here(EpochMismatch, checkpoint.EpochFile, "epoch %d at offset %d, the file says %s", e.Epoch, at, says), p.command("recover"))
		return
	}
}

func (p *partitionCheck) metadataFile() error {
	data, err := p.file(checkpoint.PartitionMetadataFile)
	if err != nil || data == nil {
		return err
	}
	next := p.scope.command(logDirOf(p.ref), "recover", "--set-topic-id", p.ref.Topic+"=ID")
	if len(data) == 0 { // as Kafka 2.8 leaves it until it knows the id
		p.add(Warning, p.here(corrupt.BadMetadata, checkpoint.PartitionMetadataFile, "no bytes, as Kafka 2.8 left it; newer brokers do not start"), next)
		return nil
	}
	m, err := checkpoint.ParsePartitionMetadata(data)
	if err != nil {
		return p.damaged(checkpoint.PartitionMetadataFile, err, next)
	}
	p.r.id = &m.TopicID
	return nil
}
