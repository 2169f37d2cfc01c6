package cmd

import (
	"context"
	"errors"
	"strings"
	"time"

	"logdir/cmd/internal/live"
	"logdir/cmd/internal/progress"
	"logdir/store"
	"logdir/store/vfs"
)

// clusterExport is one run of export into a cluster.
type clusterExport struct {
	o       *exportOptions
	env     *Env
	plan    *exportPlan
	cluster *live.Cluster
	topics  map[string]*live.Topic // of the cluster, by name
	groups  []live.GroupOffset     // what --groups asks for, in the source
}

func (o *exportOptions) exportCluster(ctx context.Context, env *Env, p *exportPlan) error {
	x := &clusterExport{o: o, env: env, plan: p}
	if err := x.readGroups(); err != nil {
		return err
	}
	var err error
	if x.cluster, err = o.connect(ctx, env); err != nil {
		return err
	}
	defer x.cluster.Close()
	if err := x.prepare(ctx); err != nil {
		return err
	}
	if o.dryRun {
		return x.preview(ctx)
	}
	return x.run(ctx)
}

// connect reaches the cluster that the flags name.
func (f *clusterFlags) connect(ctx context.Context, env *Env) (*live.Cluster, error) {
	var p live.Properties
	if f.clientConfig != "" {
		var err error
		if p, err = env.readProperties(f.clientConfig); err != nil {
			return nil, err
		}
	}
	seeds := f.seeds()
	if len(seeds) == 0 && len(p.Servers()) == 0 {
		return nil, usagef("which cluster? say --bootstrap-server HOST:PORT")
	}
	return live.Connect(ctx, seeds, p)
}

// maxProperties bounds what is read of a properties file.
const maxProperties = 1 << 20

func (e *Env) readProperties(name string) (live.Properties, error) {
	data, err := vfs.ReadAll(e.FS, name, maxProperties)
	if err != nil {
		return live.Properties{}, err
	}
	p, err := live.ParseProperties(name, data)
	if ignored := p.Ignored(); err == nil && len(ignored) > 0 {
		e.Note("%s: not known here: %s", name, strings.Join(ignored, ", "))
	}
	return p, err
}

// prepare makes sure that every topic is there and fits.
func (x *clusterExport) prepare(ctx context.Context) error {
	var err error
	if x.topics, err = x.cluster.Topics(ctx, x.targets()); err != nil {
		return err
	}
	if err := x.create(ctx); err != nil {
		return err
	}
	if err := x.checkPartitions(); err != nil {
		return err
	}
	if err := x.cluster.ReadConfigs(ctx, x.topics); err != nil {
		return err
	}
	x.warn()
	return nil
}

// targets are the names of the topics in the cluster, once each.
func (x *clusterExport) targets() []string {
	var names []string
	for _, s := range x.plan.sources {
		if n := len(names); n == 0 || names[n-1] != s.Target {
			names = append(names, s.Target)
		}
	}
	return names
}

// run exports, prints what became of each partition, and moves the groups.
func (x *clusterExport) run(ctx context.Context) (err error) {
	e := &live.Export{Sources: x.plan.live(), Rate: x.o.rate, BatchLimit: x.batchLimit, Wanted: wantedOffsets(x.groups)}
	if x.o.offsetMap != "" {
		if e.Map, err = live.OpenOffsetMap(x.env.FS, x.o.offsetMap); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, e.Map.Close()) }()
	}
	var bar *progress.Bar
	e.Begun = func(left int64) { bar = x.env.countProgress("export", left) }
	e.Moved = func(n int64) { bar.Add(n) }
	done, err := x.cluster.ExportTo(x.o.name(x.env), e).Run(ctx)
	bar.Close()
	err = errors.Join(err, x.print(done))
	if ctx.Err() != nil {
		return err
	}
	return errors.Join(err, x.moveGroups(ctx, e, done))
}

func (x *clusterExport) print(done []live.Exported) error {
	rows := x.env.Stream(exportColumns)
	for _, e := range done {
		if err := exportedRow(rows.Row, e); err != nil {
			return err
		}
	}
	return rows.Close()
}

// preview counts, and commits nothing.
func (x *clusterExport) preview(ctx context.Context) error {
	done, err := x.cluster.Preview(ctx, x.o.name(x.env), x.plan.live())
	if err != nil {
		return err
	}
	errs := []error{x.print(done)}
	for i, e := range done {
		errs = append(errs, e.Err, x.plan.sources[i].Open)
	}
	return errors.Join(errs...)
}

// warn tells what the topics' configs will make of the records.
func (x *clusterExport) warn() {
	told := map[string]bool{}
	for _, s := range x.plan.sources {
		t := x.topics[s.Target]
		if t == nil || told[s.Target] {
			continue
		}
		if t.Configs["message.timestamp.type"] == "LogAppendTime" {
			told[s.Target] = true
			x.env.Note("topic %s has message.timestamp.type=LogAppendTime: the records get the time of the export", s.Target)
		}
		if old, keeps := s.outlived(t, x.env.Now()); old {
			told[s.Target] = true
			x.env.Note("topic %s keeps records for retention.ms=%s: older ones will be deleted soon; set it to -1 first", s.Target, keeps)
		}
	}
}

// outlived tells whether the first batch of a source is older than the topic keeps records.
func (s *exportSource) outlived(t *live.Topic, now time.Time) (old bool, retention string) {
	retention = t.Configs["retention.ms"]
	ms, ok := integer(retention)
	if !ok || ms < 0 || !strings.Contains(t.Configs["cleanup.policy"], "delete") {
		return false, ""
	}
	c := s.log.From(s.From)
	defer c.Close()
	for c.Next() {
		if c.Damage() == nil {
			first := c.Batch().MaxTimestamp()
			return first >= 0 && now.UnixMilli()-first > ms, retention
		}
	}
	return false, ""
}

// batchLimit is max.message.bytes of a topic, 0 if it is not known.
func (x *clusterExport) batchLimit(topic string) int {
	limit, _ := integer(x.topics[topic].Configs["max.message.bytes"])
	return int(limit)
}

// moveGroups commits the offsets of the groups, translated, of the partitions that are
// exported to their ends.
func (x *clusterExport) moveGroups(ctx context.Context, e *live.Export, done []live.Exported) error {
	finished := map[store.TopicPartition]bool{}
	for _, d := range done {
		finished[d.TopicPartition] = d.Err == nil
	}
	byGroup := map[string][]live.GroupOffset{}
	var errs []error
	for _, g := range x.groups {
		if !finished[g.TopicPartition] {
			errs = append(errs, store.Errorf(store.Refused, "", "group %s: %s is not exported to its end: the group stays as it is", g.Group, g.TopicPartition))
			continue
		}
		to, err := x.translate(e, g)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		byGroup[g.Group] = append(byGroup[g.Group], to)
	}
	for _, group := range x.o.groups {
		if len(byGroup[group]) == 0 {
			continue
		}
		if err := x.cluster.CommitGroup(ctx, group, byGroup[group]); err != nil {
			errs = append(errs, err)
			continue
		}
		x.env.Note("group %s: %d offset(s) committed", group, len(byGroup[group]))
	}
	return errors.Join(errs...)
}

// translate finds what a group's offset is in the cluster.
func (x *clusterExport) translate(e *live.Export, g live.GroupOffset) (live.GroupOffset, error) {
	offset, ok, err := e.Translate(g.TopicPartition, g.Offset)
	if err != nil {
		return g, err
	}
	if !ok {
		return g, store.Errorf(store.Refused, "", "group %s: what became of %s offset %d is not known: it was exported before --groups was asked for",
			g.Group, g.TopicPartition, g.Offset).WithHint("the run that exported it needs --offset-map or --groups")
	}
	g.Topic, g.Offset = x.o.target(g.Topic), offset
	return g, nil
}
