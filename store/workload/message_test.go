package workload

import (
	"testing"

	"pgregory.net/rapid"
)

func TestMessageRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := message{
			run:      rapid.Int64Range(0, 999_999).Draw(t, "run"),
			producer: rapid.IntRange(0, 1_000_000).Draw(t, "producer"),
			sequence: rapid.IntRange(0, 1_000_000).Draw(t, "sequence"),
		}
		plan := Plan{
			Producers:  m.producer + 1,
			Messages:   m.sequence + 1,
			RecordSize: rapid.IntRange(0, 300).Draw(t, "beyond the minimum"),
		}
		plan.RecordSize += plan.MinRecordSize()
		value := newPadding(plan.RecordSize, 1).value(nil, m, plan.RecordSize)
		if len(value) != plan.RecordSize {
			t.Errorf("%q has %d bytes, want %d", value, len(value), plan.RecordSize)
		}
		if got, ok := parseMessage(value); !ok || got != m {
			t.Errorf("%q is read as %v, want %v", value, got, m)
		}
	})
}

// Values that others produced are nobody's message.
func TestForeignValues(t *testing.T) {
	for _, value := range []string{
		"", " ", ".", "created", "1", "1.2", "1.2.", "1.2.x", "1..3", ".2.3", "1.2.3.4", "-1.2.3", "1.2.3x abc",
		"99999999999999999999.2.3", "1.2\x00.3",
	} {
		if m, ok := parseMessage([]byte(value)); ok {
			t.Errorf("%q is read as %v", value, m)
		}
	}
}

func TestKeyRoundTrip(t *testing.T) {
	for _, n := range []int{0, 7, 123456} {
		if got := parseKey(appendKey(nil, n)); got != n {
			t.Errorf("key %d is read as %d", n, got)
		}
	}
	for _, key := range []string{"", "k", "7", "kx", "k7.", "k7.1", "alice"} {
		if got := parseKey([]byte(key)); got != noKey {
			t.Errorf("%q is read as key %d", key, got)
		}
	}
}

// The same seed makes the same letters.
func TestPadding(t *testing.T) {
	seven, again, eight := newPadding(100, 7), newPadding(100, 7), newPadding(100, 8)
	if string(seven) != string(again) {
		t.Error("one seed, two paddings")
	}
	if string(seven) == string(eight) {
		t.Error("two seeds, one padding")
	}
}
