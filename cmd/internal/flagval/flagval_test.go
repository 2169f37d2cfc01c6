package flagval

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const newYear = 1767225600000 // 2026-01-01T00:00:00Z in ms

func exact(n int64) Offset           { return Offset{Kind: Exact, N: n} }
func at(ms int64) Offset             { return Offset{Kind: AtTime, Time: Moment{Millis: ms}} }
func from(o Offset) OffsetSpec       { return OffsetSpec{From: o} }
func between(a, b Offset) OffsetSpec { return OffsetSpec{From: a, To: b, HasTo: true} }

func TestOffsetSpec(t *testing.T) {
	start, end := Offset{Kind: Start}, Offset{Kind: End}
	hourAgo := Offset{Kind: AtTime, Time: Moment{Before: time.Hour}}
	tests := []struct {
		spec string
		want OffsetSpec
	}{
		{"start", from(start)},
		{"beginning", from(start)},
		{"earliest", from(start)},
		{"oldest", from(start)},
		{"end", from(end)},
		{"latest", from(end)},
		{"newest", from(end)},
		{"stored", from(Offset{Kind: Stored})},
		{"0", from(exact(0))},
		{"9223372036854775807", from(exact(1<<63 - 1))},
		{"-3", from(Offset{Kind: End, N: 3, Relative: true})},
		{"+3", from(Offset{Kind: Start, N: 3, Relative: true})},
		{"4:6", between(exact(4), exact(6))},
		{"4:", from(exact(4))},
		{":6", between(start, exact(6))},
		{"4:end", between(exact(4), end)},
		{"-10:-5", between(Offset{Kind: End, N: 10, Relative: true}, Offset{Kind: End, N: 5, Relative: true})},
		{"@1767225600000", from(at(newYear))},
		{"@2026-01-01", from(at(newYear))},
		{"@2026-01-01T00:00:00Z", from(at(newYear))},
		{"@2026-01-01T01:00:00+01:00", from(at(newYear))},
		{"@2026-01-01T00:00:00.000", from(at(newYear))}, // kafka-consumer-groups' --to-datetime
		{"@-1h", from(hourAgo)},
		{"@2026-01-01:2026-01-02", between(at(newYear), at(newYear+86400000))},
		{"@2026-01-01T00:00:00Z:2026-01-01T00:00:01Z", between(at(newYear), at(newYear+1000))},
		{"@2026-01-01:@-1h", between(at(newYear), hourAgo)},
		{"s@5", from(at(5))},
		{"e@5", between(start, at(5))},
	}
	for _, tt := range tests {
		got, err := ParseOffsetSpec(tt.spec)
		if err != nil {
			t.Errorf("%s: %v", tt.spec, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(OffsetSpec{})); diff != "" {
			t.Errorf("%s:\n%s", tt.spec, diff)
		}
		if got.String() != tt.spec {
			t.Errorf("%s is shown as %s", tt.spec, got.String())
		}
	}
}

func TestOffsetSpecErrors(t *testing.T) {
	for _, spec := range []string{
		"", ":", "x", "1x", "--1", "6:4", "1:2:3", "@", "@yesterday", "@1h", "@-0h", "@5:", "9223372036854775808", "s@", "e@x",
	} {
		if got, err := ParseOffsetSpec(spec); err == nil {
			t.Errorf("%q: got %+v", spec, got)
		}
	}
}

func TestMomentOfAnAge(t *testing.T) {
	m, err := ParseMoment("-2d")
	if err != nil {
		t.Fatal(err)
	}
	if got := m.At(time.UnixMilli(newYear)); got != newYear-2*86400000 {
		t.Errorf("got %d", got)
	}
}

func FuzzOffsetSpec(f *testing.F) {
	for _, s := range []string{"start", "4:6", "@2026-01-01:2026-01-02T00:00:00Z", "e@-1h", "+0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		spec, err := ParseOffsetSpec(s)
		if err == nil && (spec.From.N < 0 || spec.To.N < 0) {
			t.Fatalf("%q: %+v", s, spec)
		}
	})
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "4096": 4096, "16k": 16384, "16KiB": 16384, "1kB": 1000, "2 MiB": 2 << 20, "1GiB": 1 << 30, "3tb": 3e12,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "1.5k", "k", "1x", "9223372036854775807k"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q: got %d", text, got)
		}
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "7d": 168 * time.Hour, "2w": 336 * time.Hour,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "d", "999999999w", "x"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestISODuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"P7D": 168 * time.Hour, "PT1H30M": 90 * time.Minute, "P1DT2H3M4.5S": 26*time.Hour + 3*time.Minute + 4500*time.Millisecond,
		"PT0S": 0, "PT90S": 90 * time.Second,
	} {
		if got, err := ParseISODuration(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "P", "PT", "P1DT", "1h", "P1H", "PT1D", "PT1.5H", "P99999999999D", "PT99999999999999999999S", "P106751DT999999H"} {
		if got, err := ParseISODuration(text); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestUnescape(t *testing.T) {
	for text, want := range map[string]string{
		`a`: "a", `a\tb`: "a\tb", `\n\r\\`: "\n\r\\", `\x00\xff`: "\x00\xff", `\\n`: `\n`,
	} {
		if got, err := Unescape(text); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{`\`, `\q`, `\x1`, `\xzz`} {
		if got, err := Unescape(text); err == nil {
			t.Errorf("%s: got %q", text, got)
		}
	}
}

func TestKeyValues(t *testing.T) {
	var kv KeyValues
	for _, s := range []string{"a=1", "b=", "a=x=y"} {
		if err := kv.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]string{"a": "x=y", "b": ""}, kv.Map()); diff != "" {
		t.Error(diff)
	}
	if kv.String() != "a=1,b=,a=x=y" {
		t.Errorf("got %s", kv.String())
	}
	for _, s := range []string{"", "a", "=1"} {
		if err := kv.Set(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}

func TestIDs(t *testing.T) {
	var ids IDs
	if err := ids.Set("1,2,10"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(IDs{1, 2, 10}, ids); diff != "" || ids.String() != "1,2,10" {
		t.Errorf("%s%s", ids.String(), diff)
	}
	for _, s := range []string{"", "a", "1,", "-1", "3000000000"} {
		if err := ids.Set(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}

func TestEnum(t *testing.T) {
	value := "auto"
	e := Enum(&value, "auto", "always")
	if err := e.Set("always"); err != nil || value != "always" {
		t.Errorf("got %q, %v", value, err)
	}
	if err := e.Set("never"); err == nil || value != "always" {
		t.Errorf("got %q, %v", value, err)
	}
}
