package workload

import "time"

// Outcome is what became of a run.
type Outcome struct {
	Producers int
	Made      int64 // records that the producers made before they were done, or stopped
	Sent      Sent
	Groups    []GroupOutcome // in the order of the plan
	Elapsed   time.Duration  // from the first record to the last acknowledgement
	Latency   *Latency       // of the records that were written
}

// Sent counts the records of all producers by what the leaders said to them.
type Sent struct {
	Written  int64 // on the leader, whatever was waited for
	Diverted int64 // in the dead letter queue
	Failed   int64 // nowhere
	Bytes    int64 // of the values that were written
}

// GroupOutcome is what a group saw.
type GroupOutcome struct {
	Name            string
	Active, Standby int // consumers with and without a partition
	Audited
}

// Audited counts what the records that a group read were like.
type Audited struct {
	Records    int64 // read, each as often as it came
	Duplicates int64 // came before
	OutOfOrder int64 // behind a later one of their producer, or not in their key's partition
	Missing    int64 // written and never read
}

// Intact tells whether every group saw every record once and in order.
func (o *Outcome) Intact() bool {
	for _, g := range o.Groups {
		if g.Duplicates+g.OutOfOrder+g.Missing > 0 {
			return false
		}
	}
	return true
}
