package txn

import "strconv"

// State is where a transaction stands (Kafka: TransactionState). It is part of the on-disk
// format.
type State int8

// The states. A transaction that is prepared will be committed, or aborted, whatever happens.
const (
	Empty             State = 0
	Ongoing           State = 1
	PrepareCommit     State = 2
	PrepareAbort      State = 3
	CompleteCommit    State = 4
	CompleteAbort     State = 5
	Dead              State = 6
	PrepareEpochFence State = 7
)

var stateNames = [...]string{
	"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence",
}

// Known says whether Kafka 4.4 knows the state.
func (s State) Known() bool { return s >= 0 && int(s) < len(stateNames) }

// String is Kafka's name, or the number of a state that is not known.
func (s State) String() string {
	if s.Known() {
		return stateNames[s]
	}
	return strconv.Itoa(int(s))
}
