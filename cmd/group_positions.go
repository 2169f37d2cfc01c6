package cmd

import (
	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/group"
)

// positions finds how far members have read. Only a cluster knows: elsewhere they are in
// the memory of clients.
type positions struct {
	view  *cluster.View
	known map[[2]string]*group.View // by group and member
}

// of is the position of a member in a partition that it has; no value where it has not taken
// it over, or has not read it yet.
func (p *positions) of(id, member string, tp store.TopicPartition) any {
	if p.view.Kind != store.KindCluster || member == "" {
		return nil
	}
	v := p.believed(id, member)
	if v == nil {
		return nil
	}
	if at := v.Position(tp); at != nil {
		return render.Known(at.Offset)
	}
	return nil
}

// believed is what a member believes, read once; nil if that cannot be read.
func (p *positions) believed(id, member string) *group.View {
	if p.known == nil {
		p.known = map[[2]string]*group.View{}
	}
	key := [2]string{id, member}
	v, read := p.known[key]
	if !read {
		if v, err := group.ReadView(p.view.FS, p.view.Path, id, member); err == nil {
			p.known[key] = v
			return v
		}
		p.known[key] = nil
	}
	return v
}
