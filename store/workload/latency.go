package workload

import (
	"math/bits"
	"time"
)

// Latency counts how long records took, in classes an eighth wide: exact enough for a
// percentile in milliseconds, and of one size however many records there are.
type Latency struct {
	counts [64 * steps]int64
	total  int64
	sum    time.Duration
	max    time.Duration
}

// steps is the number of classes in each power of two.
const steps = 8

// add counts n records that took d.
func (l *Latency) add(d time.Duration, n int64) {
	d = max(d, 0)
	l.counts[class(d)] += n
	l.total += n
	l.sum += d * time.Duration(n)
	l.max = max(l.max, d)
}

// merge adds what o counted.
func (l *Latency) merge(o *Latency) {
	for i, n := range o.counts {
		l.counts[i] += n
	}
	l.total += o.total
	l.sum += o.sum
	l.max = max(l.max, o.max)
}

// Mean is the average; 0 if nothing was counted.
func (l *Latency) Mean() time.Duration {
	if l.total == 0 {
		return 0
	}
	return l.sum / time.Duration(l.total)
}

// Max is the longest.
func (l *Latency) Max() time.Duration { return l.max }

// Quantile is how long the given share (0 to 1) of the records took at most, up to an
// eighth too much.
func (l *Latency) Quantile(share float64) time.Duration {
	want, seen := share*float64(l.total), int64(0)
	for i, n := range l.counts {
		seen += n
		if n > 0 && float64(seen) >= want {
			return min(ceiling(i), l.max)
		}
	}
	return 0
}

// class is the number of the class that d, which is not negative, is in. Below steps each
// nanosecond has its own.
func class(d time.Duration) int {
	shift := max(0, bits.Len64(uint64(d))-bits.Len(steps))
	return shift*steps + int(d>>shift)
}

// ceiling is the longest duration of a class.
func ceiling(class int) time.Duration {
	shift := max(0, class/steps-1)
	return time.Duration(class-shift*steps+1)<<shift - 1
}
