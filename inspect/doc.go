// Package inspect reads log directories and reports: the dump of a file, the verdict of
// verify-crc, the listing of segments, and the judgement of a whole directory.
//
// It takes vfs.ReadFS, which has no writing method. Damage is data here: every report
// goes on behind it and carries corrupt.Error values; an error means that the report
// itself could not be made (a file that cannot be opened, a disk that does not answer).
// How a report looks is not decided here: printing is in cmd/internal/render.
package inspect
