package inspect

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// logDir checks what stands in a log directory beside its partitions.
func (c *check) logDir(d CheckDir) {
	entries, err := c.fs.ReadDir(d.Path)
	if err != nil {
		c.report.Err = append(c.report.Err, err)
		return
	}
	for _, e := range entries {
		if err := c.logDirEntry(d, e); err != nil {
			c.report.Err = append(c.report.Err, err)
		}
	}
}

func (c *check) logDirEntry(d CheckDir, e fs.DirEntry) error {
	name := e.Name()
	_, partition := segment.ParsePartitionDir(name)
	switch {
	case e.IsDir() && (partition || ownFolder(name)):
	case e.IsDir():
		c.add(Info, at(Foreign, show(d, name), "no partition; a broker does not start beside such a folder"), "")
	case name == checkpoint.MetaPropertiesFile:
		return c.metaProperties(d)
	case name == checkpoint.RecoveryPointFile, name == checkpoint.HighWatermarkFile,
		name == checkpoint.LogStartFile, name == checkpoint.CleanerFile:
		return c.offsetFile(d, name)
	case strings.HasSuffix(name, checkpoint.TempSuffix):
		c.add(Info, at(Leftover, show(d, name), "a file whose writing was interrupted"), "")
	case !ownFile(name):
		c.add(Info, at(Foreign, show(d, name), "nothing of Kafka's"), "")
	}
	return nil
}

// ownFolder names folders of Kafka's that are no partitions.
func ownFolder(name string) bool { return name == "remote-log-index-cache" }

// ownFile names files of Kafka's that say nothing to check.
func ownFile(name string) bool {
	switch name {
	case checkpoint.CleanShutdownFile, checkpoint.LockFile, "bootstrap.checkpoint", "_rlmm_committed_offsets":
		return true
	}
	return false
}

func show(d CheckDir, name string) string { return filepath.ToSlash(filepath.Join(d.Name, name)) }

func (c *check) metaProperties(d CheckDir) error {
	data, err := vfs.ReadAll(c.fs, filepath.Join(d.Path, checkpoint.MetaPropertiesFile), maxStateFile)
	if err != nil {
		return err
	}
	m, err := checkpoint.ParseMetaProperties(data)
	if err != nil {
		return c.damaged(show(d, checkpoint.MetaPropertiesFile), err, c.scope.command(d.Path, "recover", "--set-broker-id", "N", "--set-cluster-id", "ID"))
	}
	c.clusters = append(c.clusters, clusterID{show(d, checkpoint.MetaPropertiesFile), m.ClusterID})
	return nil
}

func (c *check) damaged(path string, err error, next string) error {
	e, ok := errors.AsType[*corrupt.Error](err)
	if !ok {
		return err
	}
	e.Path = path
	c.add(Damage, e, next)
	return nil
}

// offsetFile holds an offset checkpoint against its own rules and against the logs.
func (c *check) offsetFile(d CheckDir, name string) error {
	path := show(d, name)
	data, err := vfs.ReadAll(c.fs, filepath.Join(d.Path, name), maxStateFile)
	if err != nil {
		return err
	}
	lines, err := checkpoint.ParseOffsets(data)
	if err != nil {
		return c.damaged(path, err, c.scope.command(d.Path, "recover"))
	}
	for _, e := range checkpoint.CheckOffsets(data) {
		e.Path = path
		c.add(Warning, e, "")
	}
	for _, l := range lines {
		c.offsetLine(d, name, l)
	}
	return nil
}

// offsetLine holds one line against the log of its partition.
func (c *check) offsetLine(d CheckDir, name string, l checkpoint.OffsetEntry) {
	tp := store.TopicPartition{Topic: l.Topic, Partition: l.Partition}
	log, here := c.ends[replicaDir{tp, d.Path}]
	path, next := show(d, name), c.scope.command(d.Path, "recover", tp.String())
	if log.empty {
		next = ""
	}
	switch {
	case !here && d.Whole:
		c.add(Info, at(UnknownLine, path, "lines of partitions that are not here"), "")
	case !here || !log.known || l.Offset <= log.end:
	case name == checkpoint.LogStartFile:
		c.add(Damage, at(StartBeyondEnd, path, "%s: log start %d, the log ends at %d: a broker would wipe it", tp, l.Offset, log.end), next)
	default:
		c.add(Warning, at(BeyondEnd, path, "%s: %d, the log ends at %d", tp, l.Offset, log.end), next)
	}
}
