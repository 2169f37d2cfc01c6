package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// levels says who may import whom: a package may import only lower levels, and on its
// own level what stands above it in the list of the level. A name stands for
// everything below it that has no line of its own.
var levels = [][]string{
	{"store/corrupt", "store/crc", "store/vfs"},
	{"store/compress", "store/checkpoint", "store/vfs/memfs", "store/vfs/faultfs"},
	{"store/record", "store/message"},
	{"store/index", "store/segment", "store/producer"},
	{"store"},
	{
		"store/cluster", "store/replica", "store/deadletter", "store/client",
		"store/cleaner", "store/group", "store/txn", "store/workload",
	},
	{"inspect/startup", "inspect/decode", "inspect"},
	{"recovery"},
	{"cmd/internal/flagval", "cmd/internal/logging", "cmd/internal/progress", "cmd/internal/input", "cmd/internal"},
	{"cmd", "man", "fixtures/experiments", ""},
}

// ordered are the levels in which the list is an order; in all others the packages of
// one level do not import each other.
var ordered = map[int]bool{3: true, 5: true, 6: true, 8: true}

// onlyImporter names the one package, or file, through which a module is used.
var onlyImporter = map[string]string{
	"github.com/spf13/viper":            "cmd",
	"github.com/olekukonko/tablewriter": "cmd/internal/render",
	"github.com/vbauerster/mpb":         "cmd/internal/progress",
	"github.com/twmb/franz-go":          "cmd/internal/live",
	"github.com/klauspost/compress":     "store/compress",
	"github.com/pierrec/lz4":            "store/compress",
	"golang.org/x/sys/unix":             "store/vfs",
	"golang.org/x/sys/cpu":              "store/crc",
	"golang.org/x/term":                 "cmd",
	"github.com/spf13/cobra":            "cmd",
}

// goPackage is what go list tells of a package.
type goPackage struct {
	ImportPath string
	GoFiles    []string
	Imports    []string
}

const module = "logdir"

func (p goPackage) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,GoFiles,Imports", "./...")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// place finds the level of a package and its number there: the longest name wins.
func place(name string) (level, number int) {
	level, longest := -1, -1
	for l, names := range levels {
		for n, prefix := range names {
			if matches(name, prefix) && len(prefix) > longest {
				level, number, longest = l, n, len(prefix)
			}
		}
	}
	return level, number
}

func matches(name, prefix string) bool {
	return name == prefix || prefix != "" && strings.HasPrefix(name, prefix+"/")
}

func TestLayering(t *testing.T) {
	for _, p := range listPackages(t) {
		if isForTests(p.name()) {
			continue
		}
		if level, _ := place(p.name()); level < 0 {
			t.Errorf("%s has no level: give it one", p.name())
		}
		for _, imported := range p.Imports {
			if name, ok := strings.CutPrefix(imported, module+"/"); ok && !mayImport(p.name(), name) {
				t.Errorf("%s must not import %s", p.name(), name)
			}
		}
	}
}

// isForTests tells packages that no program may import; they may import anything.
func isForTests(name string) bool {
	return matches(name, "fixtures") && name != "fixtures/experiments"
}

func mayImport(importer, imported string) bool {
	from, fromNumber := place(importer)
	to, toNumber := place(imported)
	if from != to {
		return to < from
	}
	if from == len(levels)-1 {
		return true
	}
	return ordered[from] && toNumber <= fromNumber
}

func TestOnlyImporters(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, imported := range p.Imports {
			for prefix, only := range onlyImporter {
				if matches(imported, prefix) && !matches(p.name(), only) {
					t.Errorf("%s imports %s, which is for %s alone", p.name(), imported, only)
				}
			}
		}
	}
}

func TestOnlyTestsImportFixtures(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, imported := range p.Imports {
			name := strings.TrimPrefix(imported, module+"/")
			if isForTests(name) && !isForTests(p.name()) {
				t.Errorf("%s imports %s, which is for tests", p.name(), name)
			}
		}
	}
}

// viper is for one file alone: everything else gets plain values.
func TestOnlyConfigImportsViper(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(source, []byte(`"github.com/spf13/viper"`)) && file != "config.go" && file != "layering_test.go" {
			t.Errorf("%s imports viper, which is for config.go alone", file)
		}
	}
}
