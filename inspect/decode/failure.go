package decode

import (
	"encoding/hex"
	"errors"
	"fmt"

	"logdir/store/corrupt"
	"logdir/store/message"
)

// sentence is an error in the words of Kafka's tool, which are not in the style of this program.
type sentence string

func (s sentence) Error() string { return string(s) }

func sentencef(format string, args ...any) error { return sentence(fmt.Sprintf(format, args...)) }

// appendHex appends an object that holds bytes which could not be decoded, and says why.
func appendHex(dst, raw []byte, err error) []byte {
	dst = append(dst, `{"hex":"`...)
	dst = append(hex.AppendEncode(dst, raw), '"')
	if err != nil {
		dst = message.AppendString(append(dst, `,"error":`...), reason(err))
	}
	return append(dst, '}')
}

// appendHexOrNull is appendHex for bytes that may be null.
func appendHexOrNull(dst, raw []byte, err error) []byte {
	if raw == nil {
		return nil
	}
	return appendHex(dst, raw, err)
}

// reason is an error without the sentence around it that Kafka's tool makes.
func reason(err error) string {
	if unknown, ok := errors.AsType[*message.UnknownTypeError](err); ok {
		err = unknown
	}
	if unknown, ok := errors.AsType[*message.UnknownVersionError](err); ok {
		err = unknown
	}
	return detail(err)
}

// detail is what is wrong, without the kind and the place in the record.
func detail(err error) string {
	if damage, ok := errors.AsType[*corrupt.Error](err); ok {
		return damage.Detail
	}
	return err.Error()
}
