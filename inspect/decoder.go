package inspect

import "logdir/store/record"

// A Decoder shows the keys and values of one topic's records in another form than
// text. It serves one goroutine, and what it returns is valid until its next call.
type Decoder interface {
	// Text is what Kafka's dump tool prints behind "key: " and "payload: "; nil prints
	// neither the word nor anything else.
	Text(r *record.Record) (key, payload []byte)
	// JSON is the same as JSON values, nil for null.
	JSON(r *record.Record) (key, payload []byte)
}
