package render

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// A counter prints what strconv does, whatever came before.
func TestCounter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c counter
		v := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-20, 20), rapid.Just[int64](math.MaxInt64-3)).Draw(t, "start")
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			if got, want := string(c.append(nil, v)), strconv.FormatInt(v, 10); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
			v += rapid.SampledFrom([]int64{0, 1, 1, 1, 1, 9, -1, 1000}).Draw(t, "step")
		}
	})
}
