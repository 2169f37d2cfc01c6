package inspect

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestInOrderKeepsTheOrder(t *testing.T) {
	items := make([]int, 200)
	for i := range items {
		items[i] = i
	}
	slowFirst := func() func(int) int {
		return func(i int) int {
			if i%17 == 0 {
				time.Sleep(time.Millisecond)
			}
			return i * i
		}
	}
	var got []int
	for r := range inOrder(t.Context(), items, slowFirst) {
		got = append(got, r)
	}
	want := make([]int, len(items))
	for i := range want {
		want[i] = i * i
	}
	if !slices.Equal(got, want) {
		t.Errorf("results out of order: %v", got)
	}
}

func zero() func(int) int { return func(int) int { return 0 } }

func TestInOrderStopsWhenTheReaderStops(t *testing.T) {
	items := make([]int, 1000)
	n := 0
	for range inOrder(t.Context(), items, zero) {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("read %d results, want 3", n)
	}
}

func TestInOrderEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for range inOrder(ctx, make([]int, 1000), zero) {
		if n++; n == 3 {
			cancel()
		}
	}
	if n < 3 || n == 1000 {
		t.Errorf("read %d results after a cancel at 3", n)
	}
}

func TestGuardTurnsAPanicIntoAnError(t *testing.T) {
	err := guard("a.log", func() error { panic("index out of range") })
	if err == nil || !strings.Contains(err.Error(), "a.log: internal error: index out of range") {
		t.Errorf("guard = %v", err)
	}
	want := errors.New("plain")
	if err := guard("a.log", func() error { return want }); !errors.Is(err, want) {
		t.Errorf("guard hides an error: %v", err)
	}
}
