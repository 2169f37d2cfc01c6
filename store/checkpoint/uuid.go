package checkpoint

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
)

// UUID is Kafka's id of a topic or a directory.
type UUID [16]byte

// The ids that Kafka reserves for directories (Kafka: DirectoryId). ZeroUUID is never a topic's.
var (
	ZeroUUID       = UUID{}
	MigratingDir   = UUID{}
	UnassignedDir  = UUID{15: 1}
	LostDir        = UUID{15: 2}
	MetadataTopic  = UUID{15: 1} // the topic id of __cluster_metadata
	uuidTextLength = 22
)

// reservedUUIDs is how many of the lowest ids Kafka keeps for itself.
const reservedUUIDs = 100

// String is Kafka's text form: base64 with the URL alphabet, 22 characters, no padding.
func (u UUID) String() string { return base64.RawURLEncoding.EncodeToString(u[:]) }

// IsReserved says whether the id is one of the hundred lowest, which Kafka keeps for itself.
func (u UUID) IsReserved() bool {
	return binary.BigEndian.Uint64(u[:8]) == 0 && binary.BigEndian.Uint64(u[8:]) < reservedUUIDs
}

// ParseUUID reads Kafka's text form; padding is allowed, as Kafka's reader does.
func ParseUUID(text string) (UUID, error) {
	var u UUID
	raw := text
	if len(raw) == uuidTextLength+2 {
		raw = strings.TrimSuffix(raw, "==")
	}
	if len(raw) != uuidTextLength || strings.ContainsAny(raw, "\r\n") { // Go would skip line ends
		return u, fmt.Errorf("id %s is not 22 characters of base64", quote(text))
	}
	if _, err := base64.RawURLEncoding.Decode(u[:], []byte(raw)); err != nil {
		return UUID{}, fmt.Errorf("id %s is not base64 with the URL alphabet", quote(text))
	}
	return u, nil
}

// RandomUUID makes a topic or directory id as Kafka does: version 4, not reserved, and
// without a dash in its text, which shells would take for an option.
func RandomUUID() UUID {
	for {
		var u UUID
		_, _ = rand.Read(u[:]) // never fails, see crypto/rand
		u[6] = u[6]&0x0f | 0x40
		u[8] = u[8]&0x3f | 0x80
		if !strings.Contains(u.String(), "-") {
			return u
		}
	}
}
