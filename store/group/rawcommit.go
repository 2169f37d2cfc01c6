package group

import "logdir/store/message"

// rawCommit is an offset commit in the bytes of its record. Of all records commits are the
// most by far, so they are read without a tree of each.
type rawCommit struct {
	group, topic []byte // slices of the key
	partition    int32
	offset       int64
	epoch        int32
}

// readKey reads a key of type 0 or 1.
func (c *rawCommit) readKey(t message.RecordType, key []byte) error {
	return t.WalkKey(key, func(f *message.Field, v message.Raw) {
		switch f.Name {
		case "group":
			c.group = v.Bytes()
		case "topic":
			c.topic = v.Bytes()
		case "partition":
			c.partition = int32(v.Int())
		}
	})
}

// readValue reads the value behind it.
func (c *rawCommit) readValue(t message.RecordType, value []byte) error {
	c.epoch = -1
	return t.WalkValue(value, func(f *message.Field, v message.Raw) {
		switch f.Name {
		case "offset":
			c.offset = v.Int()
		case "leaderEpoch":
			c.epoch = int32(v.Int())
		}
	})
}
