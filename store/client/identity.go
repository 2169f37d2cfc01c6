package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"logdir/store/cluster"
	"logdir/store/corrupt"
	"logdir/store/vfs"
)

// Identities hands out producer ids, as Kafka's transaction coordinator does. What it
// has handed out stands in clients/producers.json:
//
//	{"version":1,"next_producer_id":1002,"transactional":{"tx":{"producer_id":1001,"epoch":3}}}
type Identities struct{ cluster *cluster.Cluster }

// NewIdentities returns the identities of a cluster.
func NewIdentities(c *cluster.Cluster) Identities { return Identities{c} }

const (
	producersFile    = "producers.json"
	producersVersion = 1
	// firstProducerID leaves the small numbers to those who choose their own.
	firstProducerID = 1000
	// maxProducers bounds what is read of the file: some hundred thousand names.
	maxProducersFile = 64 << 20
)

// producers is the content of the file.
type producers struct {
	Version       int                       `json:"version"`
	NextID        int64                     `json:"next_producer_id"`
	Transactional map[string]*namedProducer `json:"transactional,omitempty"`
}

type namedProducer struct {
	ProducerID int64 `json:"producer_id"`
	Epoch      int16 `json:"epoch"`
}

// New is an identity that nobody had before.
func (i Identities) New(ctx context.Context) (Identity, error) {
	var id Identity
	err := i.update(ctx, func(p *producers) { id = Identity{ProducerID: p.next()} })
	return id, err
}

// Named is the identity of a transactional id, one epoch above the last session's,
// which is fenced by it. An epoch that is used up is followed by a new producer id.
func (i Identities) Named(ctx context.Context, transactionalID string) (Identity, error) {
	var id Identity
	err := i.update(ctx, func(p *producers) {
		named := p.Transactional[transactionalID]
		switch {
		case named == nil || named.Epoch == math.MaxInt16:
			named = &namedProducer{ProducerID: p.next()}
			p.Transactional[transactionalID] = named
		default:
			named.Epoch++
		}
		id = Identity{ProducerID: named.ProducerID, Epoch: int32(named.Epoch)}
	})
	return id, err
}

func (p *producers) next() int64 {
	p.NextID++
	return p.NextID - 1
}

// update changes the file in one step, under its own lock.
func (i Identities) update(ctx context.Context, change func(*producers)) (err error) {
	lock, err := i.cluster.Locks().Named(ctx, "producers")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	dir := filepath.Join(i.cluster.Path(), cluster.ClientsDir)
	if err := i.cluster.FS().MkdirAll(dir); err != nil {
		return err
	}
	name := filepath.Join(dir, producersFile)
	p, err := readProducers(i.cluster.FS(), name)
	if err != nil {
		return err
	}
	change(p)
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return vfs.WriteAtomic(i.cluster.FS(), name, append(raw, '\n'))
}

func readProducers(fsys vfs.ReadFS, name string) (*producers, error) {
	p := &producers{Version: producersVersion, NextID: firstProducerID, Transactional: map[string]*namedProducer{}}
	raw, err := vfs.ReadAll(fsys, name, maxProducersFile)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, p); err != nil {
		return nil, badProducers(name, err)
	}
	if p.Version != producersVersion || p.NextID < firstProducerID {
		return nil, badProducers(name, fmt.Errorf("version %d, next producer id %d", p.Version, p.NextID))
	}
	if p.Transactional == nil {
		p.Transactional = map[string]*namedProducer{}
	}
	return p, nil
}

func badProducers(name string, err error) error {
	bad := corrupt.New(corrupt.BadMetadata, 0, corrupt.Unknown, err.Error())
	bad.Path = name
	return bad
}
