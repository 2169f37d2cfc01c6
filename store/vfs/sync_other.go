//go:build !unix

package vfs

import (
	"math"
	"os"
)

// Where there are no record locks a broker cannot be noticed: the tool still reads
// and repairs, and the caller must know that nothing else runs.

func syncDir(*os.File) error { return nil }

func freeSpace(string) (int64, error) { return math.MaxInt64, nil }

func takeLock(*os.File, bool) error { return nil }

func testLock(*os.File) (bool, error) { return false, nil }
