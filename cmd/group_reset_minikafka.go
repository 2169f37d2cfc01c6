package cmd

import (
	"errors"
	"io/fs"
	"path/filepath"

	"logdir/cmd/internal/render"
	"logdir/store/cluster"
	"logdir/store/group"
	"logdir/store/vfs"
)

// resetMiniKafka resets offsets in MiniKafka's directory, where they stand in a file: what
// its groups have committed beyond the end of a log that was repaired must not stay.
func (o *groupResetOptions) resetMiniKafka(env *Env, v *cluster.View) error {
	partitions, err := namedPartitions(v.Meta, o.targets)
	if err != nil {
		return err
	}
	file := filepath.Join(v.Path, group.MiniKafkaFile)
	data, err := vfs.ReadAll(env.FS, file, maxMiniKafka)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = []byte(`{"groups":{},"version":1}`), nil
	}
	if err != nil {
		return err
	}
	known, err := group.ParseMiniKafka(data)
	if err != nil {
		return err
	}
	groups := []string{o.group}
	if o.allGroups {
		groups = idsOf(known.Groups())
	}
	t := render.Table{Columns: resetColumns}
	for _, name := range groups {
		g, _ := known.Group(name)
		positions, rows, err := o.positions(env, v, g, name, partitions)
		if err == nil {
			data, err = group.ResetMiniKafka(data, name, positions)
		}
		if err != nil {
			return err
		}
		t.Rows = append(t.Rows, rows...)
	}
	if !o.dryRun && len(t.Rows) > 0 {
		if err := env.Confirm(o.question(len(groups), len(partitions))); err != nil {
			return err
		}
		if err := vfs.WriteAtomic(env.FS, file, data); err != nil {
			return err
		}
	}
	return env.Print(t)
}

func idsOf(groups []*group.Group) (ids []string) {
	for _, g := range groups {
		ids = append(ids, g.ID)
	}
	return ids
}
