package segment

import (
	"fmt"
	"strconv"
	"strings"
)

// State tells what a partition directory is to its broker.
type State uint8

// The states, by the ending of the directory's name.
const (
	Normal State = iota
	Delete       // T-P.U-delete: scheduled for deletion
	Future       // T-P.U-future: a copy on its way from another log dir
	Stray        // T-P.U-stray: not assigned here any more; kept, never loaded
)

var stateNames = [...]string{"normal", "delete", "future", "stray"}

// String is normal, delete, future or stray.
func (s State) String() string { return stateNames[s] }

// PartitionDir is what the name of a partition directory tells. In a delete or stray
// name the topic may be cut short, to keep the name within 255 bytes.
type PartitionDir struct {
	Topic     string
	Partition int32
	State     State
}

// DirName is the name of a partition's directory.
func DirName(topic string, partition int32) string { return fmt.Sprintf("%s-%d", topic, partition) }

// ParsePartitionDir reads a directory name as Kafka does (LocalLog): the last dash
// separates topic and partition, after the last dot and what follows is cut off if the
// name ends in -delete, -future or -stray. A broker stops at a name that is not ok.
func ParsePartitionDir(name string) (PartitionDir, bool) {
	var d PartitionDir
	for s := Delete; s <= Stray; s++ {
		if stem, ok := strings.CutSuffix(name, "-"+s.String()); ok {
			dot := strings.LastIndexByte(stem, '.')
			if dot < 0 || dot == len(stem)-1 || strings.ContainsAny(name, " \t\n\v\f\r") {
				return PartitionDir{}, false
			}
			name, d.State = stem[:dot], s
			break
		}
	}
	dash := strings.LastIndexByte(name, '-')
	if dash <= 0 {
		return PartitionDir{}, false
	}
	partition, err := strconv.ParseInt(name[dash+1:], 10, 32)
	d.Topic, d.Partition = name[:dash], int32(partition)
	return d, err == nil
}
