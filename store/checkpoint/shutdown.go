package checkpoint

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"

	"logdir/store/vfs"
)

// UnknownBrokerEpoch is what a marker says that does not tell the broker's epoch.
const UnknownBrokerEpoch int64 = -1

// CleanShutdown is the content of a clean-shutdown marker. Only that the file is there
// counts as a clean stop; the content is a hint for the controller.
type CleanShutdown struct {
	// Version is 0. An empty file, as brokers before 3.7 wrote it, has none: -1.
	Version int
	// BrokerEpoch is the epoch of the broker that stopped, or UnknownBrokerEpoch.
	BrokerEpoch int64
}

// ParseCleanShutdown reads a marker. Content that does not parse tells nothing, which is
// no error to a broker.
func ParseCleanShutdown(data []byte) CleanShutdown {
	unknown := CleanShutdown{Version: -1, BrokerEpoch: UnknownBrokerEpoch}
	var marker struct {
		Version     *int   `json:"version"`
		BrokerEpoch *int64 `json:"brokerEpoch"`
	}
	err := json.Unmarshal(data, &marker)
	if err != nil || marker.Version == nil || marker.BrokerEpoch == nil {
		return unknown
	}
	return CleanShutdown{*marker.Version, *marker.BrokerEpoch}
}

// AppendCleanShutdown appends the marker's text as Kafka writes it since 3.7.
func AppendCleanShutdown(dst []byte, brokerEpoch int64) []byte {
	dst = append(dst, `{"version":0,"brokerEpoch":`...)
	dst = strconv.AppendInt(dst, brokerEpoch, 10)
	return append(dst, '}')
}

// ReadCleanShutdown looks for the marker of the log directory dir. clean tells whether it
// is there, whatever it holds.
func ReadCleanShutdown(fsys vfs.ReadFS, dir string) (marker CleanShutdown, clean bool, err error) {
	data, err := readState(fsys, filepath.Join(dir, CleanShutdownFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return CleanShutdown{Version: -1, BrokerEpoch: UnknownBrokerEpoch}, false, nil
	case err != nil:
		return CleanShutdown{}, false, err
	}
	return ParseCleanShutdown(data), true, nil
}

// WriteCleanShutdown sets the marker of the log directory dir.
func WriteCleanShutdown(fsys vfs.FS, dir string, brokerEpoch int64) error {
	return vfs.WriteAtomic(fsys, filepath.Join(dir, CleanShutdownFile), AppendCleanShutdown(nil, brokerEpoch))
}

// RemoveCleanShutdown takes the marker away and syncs the directory. It is no error if
// there is none.
func RemoveCleanShutdown(fsys vfs.FS, dir string) error {
	err := fsys.Remove(filepath.Join(dir, CleanShutdownFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}
