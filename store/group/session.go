package group

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// Leave takes a member out of the group and begins a new generation. What it read and did
// not commit, the next owner reads again.
func (c *Coordinator) Leave(ctx context.Context, group, member string) (g *Group, err error) {
	err = c.change(ctx, group, func(w *change) error {
		if _, err := w.member(member); err != nil {
			return err
		}
		if err := w.remove("leave", []string{member}); err != nil {
			return err
		}
		g = w.g
		return forget(c.cluster, group, member)
	})
	return g, err
}

// remove begins a generation without some members.
func (w *change) remove(why string, gone []string) error {
	left := slices.DeleteFunc(w.subscribers(), func(s Subscriber) bool { return slices.Contains(gone, s.Member) })
	return w.rebalance(why, strings.Join(gone, ","), Assignor(w.g.Classic.Protocol), left, MemberMetadata{})
}

// Heartbeat tells the coordinator that a member lives. The result says whether the member
// has yet to take over the newest assignment.
func (c *Coordinator) Heartbeat(ctx context.Context, group, member string) (behind bool, err error) {
	err = c.change(ctx, group, func(w *change) error {
		if _, err := w.member(member); err != nil {
			return err
		}
		v, err := c.View(group, member)
		if err != nil {
			return err
		}
		behind, v.Heartbeat = v.Generation != w.g.Generation(), w.now
		return v.write(c.cluster)
	})
	return behind, err
}

// Expired are the members that a group lost, and the generation that began without them.
type Expired struct {
	Group      string
	Members    []string
	Generation int32
}

// Expire takes out the members of a group of which the coordinator has not heard for their
// session timeout. Without any, Members is empty, and nothing was written.
func (c *Coordinator) Expire(ctx context.Context, group string) (e Expired, err error) {
	err = c.change(ctx, group, func(w *change) error {
		if err := w.known(); err != nil {
			return err
		}
		silent, err := w.silent()
		if len(silent) > 0 && err == nil {
			err = w.remove("expire", silent)
		}
		e = Expired{group, silent, w.g.Generation()}
		return err
	})
	return e, err
}

// silent lists the members whose sessions are over, by name.
func (w *change) silent() ([]string, error) {
	gone := map[string]bool{}
	for _, m := range w.classicMembers() {
		v, err := w.c.View(w.id, m.MemberID)
		if err != nil {
			return nil, err
		}
		heard := v.Heartbeat
		if heard == 0 { // it died between joining and taking note of it
			heard = w.g.Classic.StateTimestamp
		}
		if w.now-heard >= int64(m.SessionTimeoutMS) {
			gone[m.MemberID] = true
		}
	}
	return slices.Sorted(maps.Keys(gone)), nil
}
