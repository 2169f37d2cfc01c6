package cluster_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"logdir/fixtures"
	"logdir/store/cluster"
)

// TestManualListsTheConfigs holds the manual to the table: each name with its default.
func TestManualListsTheConfigs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(fixtures.Root(t), "man", "logdir-data-dir.5"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range cluster.Configs {
		want := ".It Cm " + d.Name + " Pq " + strings.Replace(d.Default, "-", `\-`, 1) + "\n"
		if !strings.Contains(string(page), want) {
			t.Errorf("logdir-data-dir(5) lacks %q", want)
		}
	}
}
