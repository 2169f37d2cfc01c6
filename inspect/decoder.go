package inspect

import "logdir/inspect/decode"

// A Decoder shows the keys and values of one topic's records in another form than text.
type Decoder = decode.Decoder
