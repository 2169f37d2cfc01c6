package client

import "math"

// Unkeyed is the way records without a key are spread.
type Unkeyed uint8

// The two ways of KIP-480 and of RoundRobinPartitioner.
const (
	// Sticky fills one partition until its batch closes, then the next.
	Sticky Unkeyed = iota
	// RoundRobin takes the next partition with every record.
	RoundRobin
)

var unkeyedNames = [...]string{Sticky: "sticky", RoundRobin: "round-robin"}

// String is the name that --unkeyed and logdir.unkeyed take.
func (u Unkeyed) String() string { return nameOf(unkeyedNames[:], int(u)) }

// ParseUnkeyed is the inverse of String.
func ParseUnkeyed(name string) (Unkeyed, error) {
	i, err := indexOf(unkeyedNames[:], name, "placement")
	return Unkeyed(i), err
}

// Unavailable is the log end of a partition without a leader: no unkeyed record goes there.
const Unavailable int64 = -1

// Placement says how a Placer decides.
type Placement struct {
	Partitions int // of the topic; positive
	Hash       Partitioner
	Unkeyed    Unkeyed
	// LogEnds gives the log end offset of every partition, Unavailable where there is
	// no leader. It is asked once, and only when a record without a key comes.
	LogEnds func() ([]int64, error)
}

// Placer chooses the partition of each record. Records with a key go where the hash
// says. The others start at the partition with the lowest log end (the lowest number
// on ties), so that a chain of one-record sessions rotates without a stored cursor.
type Placer struct {
	o       Placement
	ends    []int64 // nil until the first record without a key
	current int
}

// NewPlacer returns a Placer that has placed nothing yet.
func NewPlacer(o Placement) *Placer { return &Placer{o: o} }

// Place is the partition of a record with this key; nil is no key.
func (p *Placer) Place(key []byte) (int, error) {
	if key != nil {
		return p.o.Hash.Partition(key, p.o.Partitions), nil
	}
	if p.ends == nil {
		if err := p.start(); err != nil {
			return 0, err
		}
	}
	at := p.current
	if p.o.Unkeyed == RoundRobin {
		p.advance()
	}
	return at, nil
}

// BatchClosed tells that the open batch of a partition closed: a sticky run there ends.
func (p *Placer) BatchClosed(partition int) {
	if p.o.Unkeyed == Sticky && p.ends != nil && partition == p.current {
		p.advance()
	}
}

func (p *Placer) start() error {
	ends, err := p.o.LogEnds()
	if err != nil {
		return err
	}
	lowest := int64(math.MaxInt64)
	for i, end := range ends {
		if end != Unavailable && end < lowest {
			p.current, lowest = i, end
		}
	}
	p.ends = ends
	return nil
}

// advance moves to the next partition that has a leader.
func (p *Placer) advance() {
	for range p.ends {
		p.current = (p.current + 1) % len(p.ends)
		if p.ends[p.current] != Unavailable {
			return
		}
	}
}
