package checkpoint

import (
	"strconv"

	"logdir/store/corrupt"
)

// version is the only one that checkpoint files have ever had.
const version = 0

// parseContainer reads the version and the count and hands each entry line to add. The
// entries before the first bad line are handed on too.
func parseContainer(data []byte, add func(line) *corrupt.Error) *corrupt.Error {
	if err := checkUTF8(corrupt.BadCheckpoint, data); err != nil {
		return err
	}
	var c container
	for l := range lines(data) {
		if err := c.take(l, add); err != nil {
			return err
		}
	}
	return c.checkCount()
}

// container is what was read of a checkpoint file so far.
type container struct {
	count   line // the second line
	claimed int64
	entries int64
}

func (c *container) take(l line, add func(line) *corrupt.Error) *corrupt.Error {
	switch l.no {
	case 1:
		return checkVersion(l)
	case 2:
		return c.takeCount(l)
	}
	c.entries++
	return add(l)
}

func checkVersion(l line) *corrupt.Error {
	v, err := l.number(corrupt.BadCheckpoint, field{l.text, 0}, "version", 32)
	if err == nil && v != version {
		err = l.bad(corrupt.BadCheckpoint, "version", "version %d, not %d", v, version)
	}
	return err
}

func (c *container) takeCount(l line) (err *corrupt.Error) {
	c.count = l
	c.claimed, err = l.number(corrupt.BadCheckpoint, field{l.text, 0}, "entries", 32)
	return err
}

func (c *container) checkCount() *corrupt.Error {
	if c.entries == c.claimed {
		return nil
	}
	return c.count.bad(corrupt.BadCheckpoint, "entries", "says %d entries, has %d", c.claimed, c.entries)
}

// appendHeader appends the version and the count.
func appendHeader(dst []byte, entries int) []byte {
	dst = strconv.AppendInt(dst, version, 10)
	dst = append(dst, '\n')
	dst = strconv.AppendInt(dst, int64(entries), 10)
	return append(dst, '\n')
}

// parseEntries gives what the lines of a container hold. At damage the entries before it come
// with the error, a *corrupt.Error.
func parseEntries[T any](data []byte, parse func(line) (T, *corrupt.Error)) ([]T, error) {
	var entries []T
	damage := parseContainer(data, func(l line) *corrupt.Error {
		e, err := parse(l)
		if err == nil {
			entries = append(entries, e)
		}
		return err
	})
	if damage != nil {
		return entries, damage
	}
	return entries, nil
}
