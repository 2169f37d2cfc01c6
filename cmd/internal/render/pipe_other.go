//go:build !linux

package render

import "io"

// EnlargePipe does nothing here: only Linux lets a program set the size of a pipe.
func EnlargePipe(io.Writer) {}
