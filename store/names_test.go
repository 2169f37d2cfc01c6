package store_test

import (
	"errors"
	"strings"
	"testing"

	"logdir/store"
)

func TestValidateTopic(t *testing.T) {
	for _, good := range []string{"a", "orders", "a-b-3-dashes", "x-delete", "A.b_C-9", "...", strings.Repeat("n", 249), "-"} {
		if err := store.ValidateTopic(good); err != nil {
			t.Errorf("%q refused: %v", good, err)
		}
	}
	for _, bad := range []string{"", ".", "..", "a b", "a/b", "a:b", "gr\u00fcn", strings.Repeat("n", 250), "a\x00b"} {
		err := store.ValidateTopic(bad)
		if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.Usage || e.Name != "INVALID_TOPIC_EXCEPTION" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"segment.bytes", "segment.ms", "retention.ms", "min.insync.replicas"}
	for typed, want := range map[string]string{
		"segment.byte":       "segment.bytes",
		"segmnet.bytes":      "segment.bytes",
		"segments.ms":        "segment.ms",
		"retention.msec":     "retention.ms",
		"min.insync.replica": "min.insync.replicas",
		"compression.type":   "",
		"":                   "",
	} {
		if got := store.Nearest(typed, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}
