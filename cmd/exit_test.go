package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/vfs"
)

func allCommands() []*cobra.Command {
	var all []*cobra.Command
	visitCommands(NewRoot(&Env{}), func(c *cobra.Command) { all = append(all, c) })
	return all
}

func TestExitCodes(t *testing.T) {
	damaged := corrupt.New(corrupt.BadCRC, 4096, 70, "")
	full := store.Errorf(store.Diverted, "", "1 record diverted")
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"nothing wrong", nil, 0},
		{"anything", errors.New("x"), 1},
		{"input and output", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}, 1},
		{"usage", &usageError{msg: "x"}, 2},
		{"a wrong value", usagef("x"), 2},
		{"not found", store.Errorf(store.NotFound, "UNKNOWN_TOPIC_OR_PARTITION", "x"), 3},
		{"damage", fmt.Errorf("orders-0: %w", damaged), 4},
		{"refused", store.Errorf(store.Refused, "TOPIC_ALREADY_EXISTS", "x"), 5},
		{"fenced", store.Errorf(store.Fenced, "FENCED_LEADER_EPOCH", "x"), 6},
		{"not acknowledged", store.Errorf(store.NotAcked, "REQUEST_TIMED_OUT", "x"), 7},
		{"diverted", full, 8},
		{"busy", fmt.Errorf("locks/t-0: %w", vfs.ErrLocked), 9},
		{"the class wins over its cause", store.Errorf(store.Refused, "", "%w", damaged), 5},
		{"simulated crash", fmt.Errorf("produce: %w", &crashError{"failpoint x"}), 99},
		{"closed pipe", fmt.Errorf("write: %w", syscall.EPIPE), 141},
		{"the highest of several", errors.Join(full, damaged, errors.New("x")), 8},
		{"several causes of one error", fmt.Errorf("%w and %w", io.EOF, damaged), 4},
	}
	for _, tt := range tests {
		if got := exitCode(tt.err); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

// printed is what a failing command says on stderr.
func printed(err error, g Global) string {
	var b strings.Builder
	env := &Env{Err: &b, Global: g, started: true}
	env.printErrors(nil, err)
	return b.String()
}

func TestErrorsArePrinted(t *testing.T) {
	crc := corrupt.New(corrupt.BadCRC, 4096, 70, "")
	crc.Path, crc.BaseOffset, crc.LastOffset = "orders-0/00000000000000000042.log", 57, 63
	crc.HasCRC, crc.Stored, crc.Computed = true, 0x1f2e3d4c, 0x5b6a7988
	err := errors.Join(
		store.Errorf(store.Damage, "CORRUPT_MESSAGE", "%w", crc).WithHint("logdir recover --dry-run -d data orders:0"),
		store.Errorf(store.NotFound, "UNKNOWN_TOPIC_OR_PARTITION", "no topic %q", "x"),
		errors.New("plain"),
	)
	text := `logdir: orders-0/00000000000000000042.log: bad-crc at byte 4096: batch 57..63: stored 0x1f2e3d4c, computed 0x5b6a7988 (CORRUPT_MESSAGE)
hint: logdir recover --dry-run -d data orders:0
logdir: no topic "x" (UNKNOWN_TOPIC_OR_PARTITION)
logdir: plain (UNKNOWN_SERVER_ERROR)
`
	if diff := cmp.Diff(text, printed(err, Global{})); diff != "" {
		t.Error(diff)
	}
	lines := `{"error":"CORRUPT_MESSAGE","message":"orders-0/00000000000000000042.log: bad-crc at byte 4096: batch 57..63: stored 0x1f2e3d4c, computed 0x5b6a7988","exit":4,"hint":"logdir recover --dry-run -d data orders:0"}
{"error":"UNKNOWN_TOPIC_OR_PARTITION","message":"no topic \"x\"","exit":3,"hint":null}
{"error":"UNKNOWN_SERVER_ERROR","message":"plain","exit":1,"hint":null}
`
	if diff := cmp.Diff(lines, printed(err, Global{Output: "json"})); diff != "" {
		t.Error(diff)
	}
	if got := printed(err, Global{Quiet: true}); strings.Contains(got, "hint:") {
		t.Errorf("a hint in spite of --quiet:\n%s", got)
	}
}

// The codes of each command are ones that exist, in order.
func TestEveryExitCodeIsExplained(t *testing.T) {
	for _, c := range allCommands() {
		var help strings.Builder
		writeExitCodes(&help, c)
		want := len(strings.Fields(c.Annotations[annotationExit]))
		if want > 0 && strings.Count(help.String(), "\n  ") != want {
			t.Errorf("%s: exit codes %q are explained as %s", c.CommandPath(), c.Annotations[annotationExit], help.String())
		}
	}
}

// TestHintsNameTheDataDirectory: a hint that is typed as it stands leads to the same data.
func TestHintsNameTheDataDirectory(t *testing.T) {
	getenv := func(string) (string, bool) { return "", false }
	for _, tt := range []struct{ dir, hint, want string }{
		{"a b", "logdir offsets pay:0", "logdir offsets -d 'a b' pay:0"},
		{"d", "logdir topic list", "logdir topic list -d d"},
		{"d", "logdir group join g --member a -t TOPIC", "logdir group join -d d g --member a -t TOPIC"},
		{"d", "logdir undo takes it back, logdir recover --policy kafka t:0 finishes it", "logdir undo -d d takes it back, logdir recover -d d --policy kafka t:0 finishes it"},
		{"d", "first: logdir recover --dry-run -d d t:0", "first: logdir recover --dry-run -d d t:0"},
		{"d", "logdir verify-crc -v d/t-0/0.log", "logdir verify-crc -v d/t-0/0.log"},
		{"d", "logdir init -d d", "logdir init -d d"},
		{"d", "logdir demo --list", "logdir demo --list"},
		{"d", "logdir fetch -h", "logdir fetch -h"},
		{"d", "say --yes", "say --yes"},
		{".", "logdir topic list", "logdir topic list"},
	} {
		env := &Env{Global: Global{DataDir: tt.dir}, Getenv: getenv}
		if got := env.placed(tt.hint); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	env := &Env{Global: Global{DataDir: "d"}, Getenv: func(string) (string, bool) { return "d", true }}
	if got := env.placed("logdir topic list"); got != "logdir topic list" {
		t.Errorf("%q, where the environment names the directory", got)
	}
}

// TestSharedHint: several errors that lead to the same command name it once.
func TestSharedHint(t *testing.T) {
	bad := func(i int, hint string) error {
		return store.Errorf(store.Damage, "", "batch %d", i).WithHint("%s", hint)
	}
	got := printed(errors.Join(bad(1, "a"), bad(2, "a"), bad(3, "b"), errors.New("plain")), Global{})
	want := "logdir: batch 1\nlogdir: batch 2\nhint: a\nlogdir: batch 3\nhint: b\nlogdir: plain (UNKNOWN_SERVER_ERROR)\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
