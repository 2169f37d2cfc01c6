package workload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"logdir/store"
	"logdir/store/client"
	"logdir/store/group"
)

// patience is how long a group may read nothing, once all is written and beside the pauses
// between its polls, before the rest counts as missing.
const patience = 5 * time.Second

// reading is one group of a run: its members, and what is held against them.
type reading struct {
	plan    GroupPlan
	audit   *audit
	members []*consumer
}

// joinAll makes all consumers members, before the first record is produced: a rebalance
// on the way would have records read twice. It ends early with wanted.
func (r *run) joinAll(wanted, ctx context.Context) error {
	if err := r.refuseMembers(); err != nil {
		return err
	}
	for _, g := range r.plan.Groups {
		if err := r.joinGroup(wanted, ctx, g); err != nil {
			return err
		}
	}
	return wanted.Err()
}

// refuseMembers refuses groups that have members: they would own partitions that nobody
// reads.
func (r *run) refuseMembers() error {
	known, err := r.coordinator.Groups()
	if err != nil {
		return err
	}
	for _, g := range known {
		for _, planned := range r.plan.Groups {
			if g.ID == planned.Name && g.State() != group.Empty {
				return store.Errorf(store.Refused, "NON_EMPTY_GROUP", "group %s has members", g.ID).
					WithHint("logdir group describe %s --members", g.ID)
			}
		}
	}
	return nil
}

func (r *run) joinGroup(wanted, ctx context.Context, p GroupPlan) error {
	g := &reading{plan: p, audit: newAudit(r.plan, r.id, len(r.lanes))}
	r.readings = append(r.readings, g)
	for n := range p.Consumers {
		c := &consumer{
			run: r, audit: g.audit, group: p.Name, member: fmt.Sprintf("simulate-%d", n+1),
			fetcher: client.NewFetcher(),
		}
		if err := c.join(ctx); err != nil {
			return err
		}
		g.members = append(g.members, c)
		if err := wanted.Err(); err != nil {
			return err
		}
	}
	return g.settle(ctx)
}

// settle lets all members know the last assignment, and commits where they begin: who takes
// a partition over must not begin at what comes then.
func (g *reading) settle(ctx context.Context) error {
	for _, c := range g.members {
		if err := c.refresh(ctx); err != nil {
			return err
		}
		if err := c.commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// leaveAll takes the members out of their groups. What they committed stays.
func (r *run) leaveAll(ctx context.Context) error {
	var errs []error
	for _, g := range r.readings {
		for _, c := range g.members {
			_, err := r.coordinator.Leave(ctx, c.group, c.member)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// drained tells whether a group has read all that the producers wrote.
func (r *run) drained(a *audit) bool {
	ends := r.ends.Load()
	return ends != nil && a.reached(*ends)
}

// await waits until every group has read everything, or none reads on.
func (r *run) await(ctx context.Context) {
	last, since := int64(-1), time.Now()
	for time.Since(since) < patience+r.plan.PollInterval && !r.gaveUp() {
		read, drained := int64(0), true
		for _, g := range r.readings {
			read += g.audit.read()
			drained = drained && r.drained(g.audit)
		}
		if drained {
			return
		}
		if read > last {
			last, since = read, time.Now()
		}
		pause(ctx, idlePause)
	}
}

// outcome counts the members with and without partitions, and closes the audit.
func (g *reading) outcome(made int64, excused *excuses) GroupOutcome {
	o := GroupOutcome{Name: g.plan.Name, Audited: g.audit.close(made, excused)}
	for _, c := range g.members {
		if len(c.view.Positions) > 0 {
			o.Active++
		} else {
			o.Standby++
		}
	}
	return o
}
