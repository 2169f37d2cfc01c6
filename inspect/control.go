package inspect

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strconv"

	"logdir/store/record"
)

// ControlJSON appends the value of one of KRaft's control records as Kafka's tool
// prints it. ok is false, with dst unchanged, for other types and for values that do
// not parse.
//
// These values are flexible messages whose first field, an int16, is their version.
func ControlJSON(dst []byte, t record.ControlType, value []byte) (out []byte, ok bool) {
	m := message{rest: value, ok: true}
	version := m.int16()
	out = append(append(dst, `{"version":`...), strconv.Itoa(int(version))...)
	switch t {
	case record.LeaderChange:
		out = m.leaderChange(out, version)
	case record.SnapshotHeader:
		out = m.number(out, "lastContainedLogTimestamp", m.int64())
	case record.SnapshotFooter:
	case record.KRaftVersion:
		out = m.number(out, "kRaftVersion", int64(m.int16()))
	case record.KRaftVoters:
		out = m.list(append(out, `,"voters":`...), m.kraftVoter)
	default:
		return dst, false
	}
	m.skipTags()
	if !m.ok {
		return dst, false
	}
	return append(out, '}'), true
}

// message reads a flexible message field by field. Once something does not fit, ok is
// false and every value zero.
type message struct {
	rest []byte
	ok   bool
}

// take cuts n bytes off; nil, and ok false, if there are fewer.
func (m *message) take(n uint64) []byte {
	if !m.ok || n > uint64(len(m.rest)) {
		m.ok, m.rest = false, nil
		return nil
	}
	b := m.rest[:n]
	m.rest = m.rest[n:]
	return b
}

func (m *message) int16() int16 {
	if b := m.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (m *message) int32() int32 {
	if b := m.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (m *message) int64() int64 {
	if b := m.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (m *message) uvarint() uint64 {
	v, n := binary.Uvarint(m.rest)
	if n <= 0 {
		m.ok, m.rest = false, nil
		return 0
	}
	m.rest = m.rest[n:]
	return v
}

// compactLen reads a length, or a count, that is stored plus one. Null reads as 0.
func (m *message) compactLen() uint64 { return max(1, m.uvarint()) - 1 }

// skipTags reads over the tag section that ends every struct.
func (m *message) skipTags() {
	for n := m.uvarint(); n > 0 && m.ok; n-- {
		m.uvarint()
		m.take(m.uvarint())
	}
}

func (m *message) number(dst []byte, name string, v int64) []byte {
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return strconv.AppendInt(dst, v, 10)
}

// text appends a compact string as a JSON string.
func (m *message) text(dst []byte) []byte {
	quoted, err := json.Marshal(string(m.take(m.compactLen())))
	if err != nil {
		m.ok = false
	}
	return append(dst, quoted...)
}

func (m *message) uuid(dst []byte) []byte {
	dst = base64.RawURLEncoding.AppendEncode(append(dst, '"'), m.take(16))
	return append(dst, '"')
}

// list appends an array of structs, each of which one appends.
func (m *message) list(dst []byte, one func([]byte) []byte) []byte {
	dst = append(dst, '[')
	n := m.compactLen()
	for i := uint64(0); i < n && m.ok; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(dst)
		m.skipTags()
	}
	return append(dst, ']')
}

func (m *message) leaderChange(dst []byte, version int16) []byte {
	voter := func(dst []byte) []byte {
		dst = strconv.AppendInt(append(dst, `{"voterId":`...), int64(m.int32()), 10)
		if version >= 1 {
			dst = m.uuid(append(dst, `,"voterDirectoryId":`...))
		}
		return append(dst, '}')
	}
	dst = m.number(dst, "leaderId", int64(m.int32()))
	dst = m.list(append(dst, `,"voters":`...), voter)
	return m.list(append(dst, `,"grantingVoters":`...), voter)
}

func (m *message) kraftVoter(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"voterId":`...), int64(m.int32()), 10)
	dst = m.uuid(append(dst, `,"voterDirectoryId":`...))
	dst = m.list(append(dst, `,"endpoints":`...), m.endpoint)
	dst = strconv.AppendInt(append(dst, `,"kRaftVersionFeature":{"minSupportedVersion":`...), int64(m.int16()), 10)
	dst = strconv.AppendInt(append(dst, `,"maxSupportedVersion":`...), int64(m.int16()), 10)
	m.skipTags()
	return append(dst, "}}"...)
}

func (m *message) endpoint(dst []byte) []byte {
	dst = m.text(append(dst, `{"name":`...))
	dst = m.text(append(dst, `,"host":`...))
	dst = strconv.AppendInt(append(dst, `,"port":`...), int64(uint16(m.int16())), 10)
	return append(dst, '}')
}
