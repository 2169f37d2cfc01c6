// Package recovery repairs log directories, keeps what it takes out, and takes itself
// back.
//
// # How a change is made
//
// What a command is going to do is first a plan: a list of changes, each of which turns
// one file into another. A plan is pure; it is all that --dry-run shows. Execute carries
// it out:
//
//	step                                             a crash leaves
//	1  copy the bytes that go into removed.bin, sync  old files; a folder without manifest
//	2  manifest.json, synced with all folders above   old files; a run that changed nothing
//	3  files replaced as a whole, beside the old, sync  old files, and some *.tmp
//	4  each change, synced with its directory         old and new files
//	5  the mark "applied"                             new files
//
// Plans are ordered so that the same command finishes what a crash in step 4 left: what is
// derived from a log is written before the log is changed, since a log that is still as it
// was leads to the same plan again; segments behind a cut go before the cut is made;
// checkpoints come last. Undo takes every one of these states back to the old files, because
// the manifest has the checksum of each file before and after.
//
// A file is changed in place only at its end, or byte for byte; both leave a state that
// the kept bytes undo. Everything else is written beside and renamed.
//
// We assume what every log does: that a synced byte stays, that a rename is atomic once
// its directory is synced, and that writing one byte does not hurt its neighbours.
package recovery
