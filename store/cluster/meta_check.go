package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"logdir/store"
	"logdir/store/corrupt"
)

// badMetadata says what is wrong with a JSON file, and where if the parser knows.
func badMetadata(name string, err error) *corrupt.Error {
	pos := int64(0)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		pos = e.Offset
	} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		pos = e.Offset
	}
	bad := corrupt.New(corrupt.BadMetadata, pos, corrupt.Unknown, err.Error())
	bad.Path = name
	return bad
}

// check holds what was read to the order and the references that the code relies on.
func (m *Meta) check(name string) error {
	switch {
	case m.Version != Version:
		return badMetadata(name, fmt.Errorf("version %d, this program knows %d", m.Version, Version))
	case !slices.IsSortedFunc(m.Brokers, func(a, b Broker) int { return cmp.Compare(a.ID, b.ID) }):
		return badMetadata(name, errors.New("brokers are not sorted by id"))
	case !slices.IsSortedFunc(m.Topics, func(a, b *Topic) int { return cmp.Compare(a.nameOrEmpty(), b.nameOrEmpty()) }):
		return badMetadata(name, errors.New("topics are not sorted by name"))
	}
	for _, t := range m.Topics {
		if why := m.badTopic(t); why != "" {
			return badMetadata(name, errors.New(why))
		}
	}
	return nil
}

func (t *Topic) nameOrEmpty() string {
	if t == nil {
		return ""
	}
	return t.Name
}

func (m *Meta) badTopic(t *Topic) string {
	if t == nil || store.ValidateTopic(t.Name) != nil {
		return "a topic without a legal name"
	}
	if len(t.Partitions) == 0 {
		return "topic " + t.Name + " has no partitions"
	}
	for n, p := range t.Partitions {
		if why := m.badPartition(p); why != "" {
			return fmt.Sprintf("%s:%d %s", t.Name, n, why)
		}
	}
	return ""
}

func (m *Meta) badPartition(p *Partition) string {
	switch {
	case p == nil || len(p.Replicas) == 0:
		return "has no replicas"
	case p.Leader != nil && !slices.Contains(p.Replicas, *p.Leader):
		return "is led by a broker that is no replica"
	case !slices.IsSorted(p.ISR):
		return "has an unsorted ISR"
	}
	for _, b := range p.Replicas {
		if _, err := m.Broker(b); err != nil {
			return fmt.Sprintf("names broker %d, which is not there", b)
		}
	}
	return ""
}
