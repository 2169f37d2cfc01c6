package segment

import "fmt"

// ReadError is an I/O error with the byte range that could not be read. It is not
// corruption: the same bytes may be readable later, or elsewhere.
type ReadError struct {
	Pos, Size int64
	Err       error
}

// Error names the range and the cause.
func (e *ReadError) Error() string {
	return fmt.Sprintf("read of bytes %d..%d: %v", e.Pos, e.Pos+e.Size, e.Err)
}

// Unwrap gives the cause.
func (e *ReadError) Unwrap() error { return e.Err }
