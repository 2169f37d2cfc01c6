package flagval

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"time"
)

// isoDuration is the ISO 8601 duration that Java and Kafka write: PnDTnHnMnS.
var isoDuration = regexp.MustCompile(`^P(?:(\d+)D)?(T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(\.\d{1,9})?S)?)?$`)

var errISODuration = errors.New("want a duration such as PT1H30M or P7D")

// ParseISODuration reads a duration as Kafka's tools take it: PnDTnHnMnS.
func ParseISODuration(s string) (time.Duration, error) {
	m := isoDuration.FindStringSubmatch(s)
	if m == nil || s == "P" || m[2] == "T" {
		return 0, errISODuration
	}
	var sum time.Duration
	for i, unit := range map[int]time.Duration{1: 24 * time.Hour, 3: time.Hour, 4: time.Minute, 5: time.Second} {
		if m[i] == "" {
			continue
		}
		n, err := strconv.ParseInt(m[i], 10, 64)
		if err != nil || n > int64(math.MaxInt64/unit) || sum > math.MaxInt64-time.Duration(n)*unit {
			return 0, errISODuration
		}
		sum += time.Duration(n) * unit
	}
	if m[6] != "" {
		fraction, err := time.ParseDuration("0" + m[6] + "s")
		if err != nil || sum > math.MaxInt64-fraction {
			return 0, errISODuration
		}
		sum += fraction
	}
	return sum, nil
}
