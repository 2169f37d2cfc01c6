package cmd

import (
	"strings"
	"testing"

	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

// TestCheckUnreadable: a log that the disk does not give is told, and nothing is said of what
// it may hold; damage elsewhere still decides the exit code.
func TestCheckUnreadable(t *testing.T) {
	const log = "00000000000000000000.log"
	fsys := faultfs.Wrap(memfs.New(), nil)
	for name, data := range map[string]string{
		"d/a-0/" + log:                       strings.Repeat("x", 100),
		"d/b-0/" + log:                       "",
		"d/meta.properties":                  "version=1\nnode.id=1\ncluster.id=c\n",
		"d/replication-offset-checkpoint":    "0\n1\na 0 30\n",
		"d/recovery-point-offset-checkpoint": "0\n1\na 0 30\n",
	} {
		if err := write(fsys, name, data); err != nil {
			t.Fatal(err)
		}
	}
	fsys.BadSectors("d/a-0/"+log, 0, 100)
	got := runIn(fsys, "check", "-d", "d", "--output", "tsv", "--no-header")
	if strings.Contains(string(got.out), "beyond-end") || !strings.Contains(got.stderr, "input/output error") || got.exit != exitError {
		t.Errorf("exit %d\n%s%s", got.exit, got.out, got.stderr)
	}
	if err := write(fsys, "d/b-0/"+log, strings.Repeat("x", 100)); err != nil {
		t.Fatal(err)
	}
	got = runIn(fsys, "check", "-d", "d", "--output", "tsv", "--no-header")
	if !strings.HasPrefix(string(got.out), "damage\t") || !strings.HasSuffix(got.stderr, "damaged, and not everything could be read\n") || got.exit != exitDamage {
		t.Errorf("exit %d\n%s%s", got.exit, got.out, got.stderr)
	}
}

func write(fsys vfs.FS, name, data string) error {
	if err := fsys.MkdirAll(name[:strings.LastIndexByte(name, '/')]); err != nil {
		return err
	}
	return vfs.WriteAtomic(fsys, name, []byte(data))
}
