package workload

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Every duration is in a class that ends no more than an eighth above it, and classes
// follow each other without a gap.
func TestLatencyClasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, 1<<60).Draw(t, "duration"))
		c := class(d)
		if top := ceiling(c); top < d || top-d > d/steps {
			t.Errorf("%d is in class %d up to %d", d, c, top)
		}
		if class(ceiling(c)) != c || class(ceiling(c)+1) != c+1 {
			t.Errorf("class %d ends at %d, which is in %d, and the next in %d", c, ceiling(c), class(ceiling(c)), class(ceiling(c)+1))
		}
	})
}

func TestLatencySums(t *testing.T) {
	var a, b Latency
	a.add(10*time.Millisecond, 90)
	b.add(200*time.Millisecond, 9)
	b.add(time.Second, 1)
	b.add(-time.Second, 0) // a clock that was set back
	a.merge(&b)
	if got, want := a.Mean(), 37*time.Millisecond; got != want {
		t.Errorf("mean %s, want %s", got, want)
	}
	for share, want := range map[float64]time.Duration{.5: 10, .9: 10, .95: 200, .99: 200, .999: 1000, 1: 1000} {
		got := a.Quantile(share).Milliseconds()
		if ms := int64(want); got < ms || got > ms+ms/steps {
			t.Errorf("%v of the records took %d ms, want %d", share, got, ms)
		}
	}
	if a.Max() != time.Second {
		t.Errorf("longest %s", a.Max())
	}
}

func TestLatencyOfNothing(t *testing.T) {
	var l Latency
	if l.Mean() != 0 || l.Max() != 0 || l.Quantile(.99) != 0 {
		t.Error("nothing took some time")
	}
}
