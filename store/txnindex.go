package store

import (
	"errors"
	"io/fs"

	"logdir/store/index"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// appendAborted adds aborted transactions to the transaction index of the active
// segment, which holds their markers. The markers stand in the log before: a crash in
// between loses an entry that recover makes again.
func (l *Log) appendAborted(txns []index.AbortedTxn) error {
	if len(txns) == 0 {
		return nil
	}
	f, err := l.fs.OpenCreate(l.activeName(segment.TxnIndexSuffix))
	if err != nil {
		return err
	}
	return errors.Join(l.addAborted(f, txns), f.Close())
}

func (l *Log) addAborted(f vfs.File, txns []index.AbortedTxn) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var raw []byte
	for _, t := range txns {
		raw = index.AppendAbortedTxn(raw, t)
	}
	// A fragment at the end is what a crash left of an entry.
	whole := info.Size() - info.Size()%index.TxnEntrySize
	if _, err := f.WriteAt(raw, whole); err != nil {
		return err
	}
	if l.config.Fsync == FsyncNever {
		return nil
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return l.fs.SyncDir(l.dir)
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
