package segment_test

import (
	"math"
	"testing"

	"logdir/store/segment"
)

func TestX(t *testing.T) {
	f := fixtureF(t)
	junk := []byte("the quick brown fox jumps over the lazy dog, twice or so it seems; who would have thought")
	show := func(name string, f []byte, o segment.Options) {
		t.Log(name, "\n"+scan(t, f, o))
	}
	z := segment.Options{}
	show("last 3b", put(f, 656, "0000003b"), z)
	show("magic 3", put(f, 288+16, "03"), z)
	show("magic 1", put(f, 288+16, "01"), z)
	show("magic ff last", put(f, 648+16, "ff"), z)
	show("magic 3 and crc", put(put(f, 288+16, "03"), 357, "77"), z)
	show("swallow two", put(f, 296, "0000009c"), z) // 12+.. = 168 ; 
	show("swallow exactly 2 more", put(f, 296, "000000cc"), z)
	show("swallow + payload damage", put(put(f, 296, "000000cc"), 357, "77"), z)
	show("swallow to the end + payload damage", put(put(f, 296, "000001a4"), 357, "77"), z)
	show("high outlier", join(f[:288], at(batch(f, 4), 1004), f[360:]), z)
	show("high outlier first", join(at(batch(f, 0), 1004), f[72:]), z)
	show("low outlier", join(f[:288], at(batch(f, 4), 1), f[360:]), z)
	show("high outlier before last", join(f[:576], at(batch(f, 8), 1004), f[648:]), z)
	show("high last", join(f[:648], at(batch(f, 9), 1004)), z)
	show("low last", join(f[:648], at(batch(f, 9), 4)), z)
	show("high last with limit", join(f[:648], at(batch(f, 9), 1004)), segment.Options{Limit: 10})
	show("dup", join(f[:360], f[288:]), z)
	show("low n1 after a gap", join(f[:144], at(batch(f, 4), 1000), at(batch(f, 5), 500), at(batch(f, 6), 1002), at(batch(f, 7), 1003)), z)
	show("stale", join(f, f[144:360]), z)
	show("stale then zeros", join(f, f[144:360], make([]byte, 100)), z)
	show("stale older epoch", join(inEpoch(batch(f, 0), 3), inEpoch(batch(f, 1), 3), inEpoch(batch(f, 2), 3), appendBatchOf(t, nil, 1, 2, "xx")), z)
	show("used, other content", join(f, appendBatchOf(t, nil, 1, 0, "xx")), z)
	show("garbage", join(f, junk), z)
	show("garbage mid", join(f[:288], junk, f[288:]), z)
	show("zeros mid", join(f[:288], make([]byte, 72), f[360:]), z)
	show("zeros mid block", join(f[:310], make([]byte, 100), f[410:]), z)
	show("bad crc then torn", join(put(f, 645, "77")[:700]), z)
	show("two bad crc", put(put(f, 357, "77"), 429, "77"), z)
	show("first", put(f, 69, "77"), z)
	show("several", put(put(put(f, 69, "77"), 296, "00ffffff"), 500, "aa"), z)
	show("epoch high", join(f[:288], inEpoch(batch(f, 4), 7), f[360:]), z)
	show("epoch rise", join(f[:288], inEpoch(batch(f, 4), 7), inEpoch(batch(f, 5), 7)), z)
	show("epoch low", join(f[:288], inEpoch(batch(f, 4), 7), inEpoch(batch(f, 5), 7), inEpoch(batch(f, 6), 1), inEpoch(batch(f, 7), 7)), z)
	show("epoch last", join(f[:648], inEpoch(batch(f, 9), 7)), z)
	show("compacted", join(batch(f, 0), batch(f, 5), batch(f, 9)), z)
	show("below base", f, segment.Options{Base: 3})
	show("negative", join(f[:288], at(batch(f, 4), math.MinInt64), f[360:]), z)
	show("cut random tail", join(f, junk[:16]), z)
	show("one byte", join(f, []byte{1}), z)
	show("zero 11", join(f, make([]byte, 11)), z)
	show("zero 12", join(f, make([]byte, 12)), z)
	show("length hurt, next torn", put(f, 584, "00ffffff")[:700], z)
}
