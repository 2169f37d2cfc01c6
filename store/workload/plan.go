package workload

import (
	"time"

	"logdir/store"
	"logdir/store/client"
)

// Plan says what a run does. The same plan with the same seed makes the same records;
// how those of several producers mix is up to the scheduler.
type Plan struct {
	Topic     string
	Producers int
	Messages  int // of each producer
	// Keys is how many keys there are; 0 gives records none.
	Keys int
	// RecordSize is the bytes of each value; at least MinRecordSize.
	RecordSize int
	Acks       client.Acks
	Groups     []GroupPlan
	// PollInterval is how long a consumer waits between polls.
	PollInterval time.Duration
	Seed         uint64
}

// GroupPlan is a group and how many consumers it has.
type GroupPlan struct {
	Name      string
	Consumers int
}

// Records is how many records the producers make together.
func (p *Plan) Records() int64 { return int64(p.Producers) * int64(p.Messages) }

// maxRecords bounds the bits that are kept for each record and group to 128 MiB.
const maxRecords = 1 << 30

// Validate refuses what cannot be run. The error is of class Usage.
func (p *Plan) Validate() error {
	switch {
	case p.Producers < 1:
		return usagef("%d producers: want at least 1", p.Producers)
	case p.Messages < 0 || p.Keys < 0 || p.PollInterval < 0:
		return usagef("messages, keys and times are not negative")
	case int64(p.Messages) > maxRecords/int64(p.Producers):
		return usagef("%d producers with %d messages each: want at most %d records in all", p.Producers, p.Messages, maxRecords)
	case p.RecordSize < p.MinRecordSize():
		return usagef("a record size of %d: a value says whose it is and which, and takes %d bytes", p.RecordSize, p.MinRecordSize())
	}
	return p.validateGroups()
}

func (p *Plan) validateGroups() error {
	known := map[string]bool{}
	for _, g := range p.Groups {
		switch {
		case g.Name == "":
			return usagef("a group without a name")
		case g.Consumers < 1:
			return usagef("group %s with %d consumers: want at least 1", g.Name, g.Consumers)
		case known[g.Name]:
			return usagef("group %s twice", g.Name)
		}
		known[g.Name] = true
	}
	return nil
}

func usagef(format string, args ...any) error {
	return store.Errorf(store.Usage, "INVALID_REQUEST", format, args...)
}
