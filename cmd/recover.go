package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/recovery"
	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/segment"
)

// recoverOptions are the flags of "logdir recover".
type recoverOptions struct {
	repairFlags
	policy            string
	fix               bool
	fromRecoveryPoint bool
	deep              bool
	all               bool
	markClean         bool
	interval          int64
	identity          identityFlags
}

func newRecoverCmd(env *Env) *cobra.Command {
	o := &recoverOptions{policy: string(recovery.Tail)}
	c := &cobra.Command{
		Use:   "recover [TARGET|PATH...]",
		Short: "repair logs without losing a readable record",
		Long: `Look at every segment and repair what is damaged. The default cuts only bytes that hold no
record, at the end of a log, makes derived files anew (indexes, snapshots, leader epochs,
checkpoints), and refuses the rest with the choices spelled out.

Every byte that is taken out or overwritten goes to a quarantine first, and "logdir undo"
puts it back. --dry-run shows the same plan. A second run has nothing to do and prints
nothing. On anything but a cluster of ours it asks first, or wants --yes.`,
		Example: `  logdir recover --dry-run
  logdir recover orders:0
  logdir recover --fix --policy skip -d /var/lib/kafka/data --yes
  logdir recover --policy kafka --from-recovery-point -d /var/lib/kafka/data --dry-run`,
		Annotations: about("0 1 2 3 4 5 9 99", "logdir-check(1)", "logdir-undo(1)", "logdir-salvage(1)"),
		RunE: func(c *cobra.Command, targets []string) error {
			return o.run(c.Context(), env, targets)
		},
	}
	f := c.Flags()
	o.repairFlags.addTo(f)
	f.Var(flagval.Enum(&o.policy, string(recovery.Tail), string(recovery.Kafka), string(recovery.Skip)), "policy",
		"what becomes of damage: tail cuts what holds no record, kafka does what a broker does, skip takes out only the bad bytes")
	f.BoolVar(&o.fix, "fix", false, "before any policy: put back what can be proved")
	f.BoolVar(&o.fromRecoveryPoint, "from-recovery-point", false, "policy kafka: heed marker and checkpoints, as a broker that starts here would")
	f.BoolVar(&o.deep, "deep", false, "also decompress and parse records; what does not is damage")
	f.BoolVar(&o.all, "all", false, "also list undamaged segments")
	f.BoolVar(&o.markClean, "mark-clean", false, "write .kafka_cleanshutdown, so that the broker skips its own recovery")
	f.Var(flagval.NewBytes(&o.interval), "index-interval-bytes", "index.interval.bytes for rebuilt indexes, where no topic config says (0: 4096)")
	o.identity.addTo(f)
	return c
}

// recoverColumns are those of each row; recoverExtra come with --json only.
var (
	recoverColumns = []string{"TOPIC", "PARTITION", "BROKER", "SEGMENT", "DAMAGE", "LOST-BYTES", "LOG-END", "ACTION"}
	recoverExtra   = []string{"lost_records", "quarantine"}
)

func (o *recoverOptions) validate() error {
	switch {
	case o.fromRecoveryPoint && o.policy != string(recovery.Kafka):
		return usagef("--from-recovery-point goes with --policy kafka")
	case o.fix && o.policy == string(recovery.Kafka):
		return usagef("--fix does not go with --policy kafka: a broker puts nothing back; use tail or skip")
	case len(o.identity.brokerID) > 1:
		return usagef("--set-broker-id takes one number")
	}
	return nil
}

func (o *recoverOptions) run(ctx context.Context, env *Env, targets []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	r, err := env.openRepair(ctx, o.commandLine(), o.repairFlags, targets, true)
	if err != nil {
		return err
	}
	return errors.Join(o.recover(ctx, r), r.Close())
}

// commandLine is what the manifest calls the command.
func (o *recoverOptions) commandLine() string {
	words := []string{"recover"}
	if o.policy != string(recovery.Tail) {
		words = append(words, "--policy", o.policy)
	}
	if o.fix {
		words = append(words, "--fix")
	}
	return strings.Join(words, " ")
}

func (o *recoverOptions) recover(ctx context.Context, r *repair) error {
	if err := r.checkQuarantine(); err != nil {
		return err
	}
	s := &recoverRun{o: o, repair: r}
	if err := s.plan(ctx); err != nil {
		return err
	}
	if !o.dryRun && s.anything() {
		if err := s.ask(); err != nil {
			return err
		}
		if err := s.carryOut(ctx); err != nil {
			return err
		}
	}
	s.log()
	if err := s.print(); err != nil {
		return err
	}
	s.tell(ctx)
	return s.left()
}

// ask asks before anything but a cluster of ours is changed, and before any identity is.
func (s *recoverRun) ask() error {
	question := fmt.Sprintf("repair %d partition(s) of %s", s.changed(), s.env.Global.DataDir)
	if s.o.identity.any() {
		return s.env.Confirm(question + " and change whose they are")
	}
	return s.confirm(question)
}

func (o *recoverOptions) options(r *repair, topic string) recovery.Options {
	return recovery.Options{
		Policy: recovery.Policy(o.policy), Fix: o.fix, FromRecoveryPoint: o.fromRecoveryPoint, Deep: o.deep,
		IndexInterval: r.interval(topic, int(o.interval)), TrimIndexes: o.markClean,
	}
}

// recoverRun is one run of recover: a plan for each replica, and what belongs to the log
// directories.
type recoverRun struct {
	*repair
	o     *recoverOptions
	plans []*recovery.Plan
	errs  []error
	extra []work         // checkpoints, identities, markers
	rows  []recovery.Row // of extra
	works []work
	ids   []string
}

// plan looks at every replica. One that cannot be read does not keep the others from it.
func (s *recoverRun) plan(ctx context.Context) error {
	partitions, err := s.partitions()
	if err != nil {
		return err
	}
	results := planAll(ctx, partitions, func(p recovery.Partition) (*recovery.Plan, error) {
		return recovery.Make(ctx, s.env.FS, p, s.o.options(s.repair, p.Topic))
	})
	for _, res := range results {
		if res.err != nil {
			s.errs = append(s.errs, res.err)
			continue
		}
		s.plans = append(s.plans, res.plan)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.logCheck()
	return s.planLogDirs()
}

func (s *recoverRun) anything() bool { return s.changed() > 0 || len(s.extra) > 0 }

// changed counts the partitions with something to do.
func (s *recoverRun) changed() int {
	n := 0
	for _, p := range s.plans {
		if !p.Empty() {
			n++
		}
	}
	return n
}

// carryOut makes the changes. Where files must be moved first, the rest is planned anew
// behind that.
func (s *recoverRun) carryOut(ctx context.Context) error {
	for _, p := range s.plans {
		if !p.ChangesLog() {
			continue
		}
		if err := s.beginEpoch(ctx, p.Partition.PartitionRef); err != nil {
			return err
		}
	}
	if err := s.moveFirst(ctx); err != nil {
		return err
	}
	for _, p := range s.plans {
		s.works = add(s.works, s.placeOf(p.Partition.PartitionRef), p.Changes)
	}
	for _, w := range s.extra {
		s.works = add(s.works, w.place, w.changes)
	}
	var err error
	s.ids, err = s.execute(ctx, s.works, func() error { return s.env.Failpoint(store.FailRecoverCut) })
	return err
}

func (s *recoverRun) moveFirst(ctx context.Context) error {
	var first []work
	for _, p := range s.plans {
		first = add(first, s.placeOf(p.Partition.PartitionRef), p.First)
	}
	if _, err := s.execute(ctx, first, nil); err != nil {
		return err
	}
	for i, p := range s.plans {
		if len(p.First) == 0 {
			continue
		}
		again, err := recovery.Make(ctx, s.env.FS, p.Partition, s.o.options(s.repair, p.Partition.Topic))
		if err != nil {
			return err
		}
		p.Changes, p.First = again.Changes, nil
		p.Rows = append(p.Rows, again.Rows...)
		s.plans[i] = p
	}
	return nil
}

// print shows the rows of all plans in the order of the replicas.
func (s *recoverRun) print() error {
	rows := s.env.Stream(recoverColumns, recoverExtra...)
	for _, p := range s.plans {
		for _, row := range p.Rows {
			if err := s.row(rows, p.Partition.PartitionRef, row); err != nil {
				return err
			}
		}
		if s.o.all {
			if err := s.untouched(rows, p); err != nil {
				return err
			}
		}
	}
	for _, row := range s.rows {
		if err := s.row(rows, s.refOf(row), row); err != nil {
			return err
		}
	}
	return rows.Close()
}

func (s *recoverRun) refOf(row recovery.Row) store.PartitionRef {
	for _, ref := range s.refs {
		if ref.TopicPartition == row.TopicPartition && ref.Broker == row.Broker {
			return ref
		}
	}
	return s.refs[0]
}

func (s *recoverRun) row(rows *render.Stream, ref store.PartitionRef, r recovery.Row) error {
	action := r.Action
	if s.o.dryRun && action != "" {
		action = "would be " + action
	}
	return rows.Row(textOrNil(r.Topic), render.Known(r.Partition), render.Known(r.Broker), baseName(r.Segment), textOrNil(string(r.Damage)),
		r.LostBytes, render.Known(r.LogEnd), textOrNil(action), r.LostRecords, idAt(s.works, s.ids, s.placeOf(ref).root))
}

// untouched lists the segments of a replica that no row is about.
func (s *recoverRun) untouched(rows *render.Stream, p *recovery.Plan) error {
	list, err := segment.List(s.env.FS, p.Partition.Dir)
	if err != nil {
		return err
	}
	told := map[int64]bool{}
	for _, r := range p.Rows {
		told[r.Segment] = true
	}
	for i, f := range list.Segments {
		if told[f.Base] {
			continue
		}
		end := p.LogEnd
		if i+1 < len(list.Segments) {
			end = list.Segments[i+1].Base
		}
		row := recovery.Row{TopicPartition: p.Partition.TopicPartition, Broker: p.Partition.Broker, Segment: f.Base, LogEnd: end}
		if err := s.row(rows, p.Partition.PartitionRef, row); err != nil {
			return err
		}
	}
	return nil
}

func baseName(base int64) any {
	if base == corrupt.Unknown {
		return nil
	}
	return segment.FileName(base, "")
}

func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// tell ends stderr with what was lost, and with who is now beyond the end.
func (s *recoverRun) tell(ctx context.Context) {
	loss := recovery.NoLoss()
	for _, p := range s.plans {
		for _, n := range p.Notes {
			s.env.Note("%s: %s", p.Partition.TopicPartition, n)
		}
		loss.Add(p.Lost)
	}
	if s.o.fromRecoveryPoint {
		s.env.Note("a broker that starts here does not look at what it had synced: damage there stays, and logdir check finds it")
	}
	if !s.anything() {
		return
	}
	s.env.Tell("%s", lossWords(loss, s.o.dryRun))
	for _, line := range s.groupsBeyond(ctx) {
		s.env.Tell("%s", line)
	}
	for i, w := range s.works {
		if s.ids != nil && s.ids[i] != "" {
			s.env.Hint("logdir undo %s%s%s takes it back; the old bytes are in %s", s.undoDir(w.place), s.quarantineFlag(), s.ids[i], s.quarantine(w.place).Dir)
		}
	}
}

// undoDir is how undo is told where a run was, which with a PATH need not be the data
// directory.
func (s *recoverRun) undoDir(p location) string {
	if absolute(s.env.Global.DataDir) == p.root {
		return s.dataDirFlag()
	}
	return "-d " + store.ShellWord(p.root) + " "
}

// lossWords says what goes, in one sentence.
func lossWords(l recovery.Loss, dryRun bool) string {
	verb := "lost"
	if dryRun {
		verb = "would lose"
	}
	text := fmt.Sprintf("%s: %d record(s)", verb, l.Records)
	if l.Records == 0 {
		text = verb + ": no records"
	}
	if l.Uncounted > 0 {
		text += fmt.Sprintf(", and %d bytes that do not tell how many they held", l.Uncounted)
	}
	if l.Records == 0 {
		return text
	}
	if l.HasOffsets() {
		text += fmt.Sprintf(", in offsets %d to %d", l.First, l.Last)
	}
	if l.HasTimes() {
		text += fmt.Sprintf(", of %s to %s", timeText(l.From), timeText(l.To))
	}
	return text
}

func timeText(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// left is the damage that stays, an error each.
func (s *recoverRun) left() error {
	errs := s.errs
	for _, p := range s.plans {
		errs = append(errs, p.Left...)
	}
	return errors.Join(errs...)
}
