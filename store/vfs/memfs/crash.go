package memfs

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// crashBlock is the piece in which bytes are lost: a disk sector, since no more than
// that is ever written at once.
const crashBlock = 512

// CrashOptions say how much of what was not synced a crash keeps.
type CrashOptions struct {
	// Unsynced is the chance of each unsynced block and name operation to survive:
	// 0 none, 1 all, anything between a random part.
	Unsynced float64
	// Seed makes the random part repeatable.
	Seed uint64
}

// CrashClone returns the file system as it would be found after a power cut now. The
// original goes on undisturbed. No lock is held in the clone.
func (m *FS) CrashClone(o CrashOptions) *FS {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &crash{
		chance: o.Unsynced,
		rand:   rand.New(rand.NewPCG(o.Seed, 0)),
		out:    New(),
		clones: map[*node]*node{},
		names:  map[*node]map[string]*node{},
	}
	for _, op := range m.pending {
		if c.survives() {
			op.apply(c.namesOf)
		}
	}
	c.out.clock = m.clock
	c.out.free = m.free
	c.out.root = c.clone(m.root)
	return c.out
}

type crash struct {
	chance float64
	rand   *rand.Rand
	out    *FS
	clones map[*node]*node
	names  map[*node]map[string]*node
}

func (c *crash) survives() bool { return c.rand.Float64() < c.chance }

// namesOf is the directory as it will be found: a copy of its durable names, to which
// the surviving operations are applied.
func (c *crash) namesOf(dir *node) map[string]*node {
	names, seen := c.names[dir]
	if !seen {
		names = maps.Clone(dir.kept)
		c.names[dir] = names
	}
	return names
}

// clone copies a node once, also where it has two names.
func (c *crash) clone(n *node) *node {
	if done, ok := c.clones[n]; ok {
		return done
	}
	out := &node{dir: n.dir, mtime: n.mtime}
	c.clones[n] = out
	if !n.dir {
		out.live = c.content(n)
		out.durable = slices.Clone(out.live)
		return out
	}
	out.children = map[string]*node{}
	out.kept = map[string]*node{}
	names := c.namesOf(n)
	for _, name := range slices.Sorted(maps.Keys(names)) { // the order in which a seed is spent
		child := c.clone(names[name])
		out.children[name], out.kept[name] = child, child
	}
	return out
}

// content mixes durable and live bytes: first the size survives or not, then each
// block that differs. A block that lies behind the durable end and is lost is zeros.
func (c *crash) content(n *node) []byte {
	out := slices.Clone(n.durable)
	if len(n.live) != len(n.durable) && c.survives() {
		out = fit(out, len(n.live))
	}
	for start := 0; start < len(out); start += crashBlock {
		end := min(start+crashBlock, len(out))
		if start < len(n.live) && c.survives() {
			copy(out[start:end], n.live[start:])
		}
	}
	return out
}

func fit(p []byte, size int) []byte {
	if size <= len(p) {
		return p[:size]
	}
	return append(p, make([]byte, size-len(p))...)
}
