package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"logdir/store/record"
)

// byteCommands make and change binary files in scripts.
var byteCommands = map[string]func(*testscript.TestScript, bool, []string){
	"bytes":     writeBytes,
	"patch":     patchBytes,
	"resize":    resizeFile,
	"sha256":    checkSHA256,
	"fixture-f": writeFixtureF,
}

// writeBytes makes a file of hex:
//
//	bytes FILE HEX...
//	bytes FILE @TEXTFILE     hex with blanks, and comments from # to the line's end
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: bytes FILE HEX...|@TEXTFILE")
	}
	text := strings.Join(args[1:], "")
	if name, ok := strings.CutPrefix(args[1], "@"); ok {
		text = uncomment(ts.ReadFile(name))
	}
	writeFile(ts, args[0], decodeHex(ts, text))
}

// uncomment drops comments and white space.
func uncomment(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(line, "#")
		b.WriteString(strings.Join(strings.Fields(code), ""))
	}
	return b.String()
}

func decodeHex(ts *testscript.TestScript, text string) []byte {
	b, err := hex.DecodeString(text)
	ts.Check(err)
	return b
}

func writeFile(ts *testscript.TestScript, name string, data []byte) {
	path := ts.MkAbs(name)
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	ts.Check(os.WriteFile(path, data, 0o644))
}

// patchBytes overwrites bytes in the middle of a file: patch FILE POS HEX.
func patchBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: patch FILE POS HEX")
	}
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR, 0)
	ts.Check(err)
	_, err = f.WriteAt(decodeHex(ts, args[2]), number(ts, args[1]))
	ts.Check(err)
	ts.Check(f.Close())
}

// resizeFile cuts a file, or makes it longer by a hole of zeros: resize FILE SIZE.
func resizeFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: resize FILE SIZE")
	}
	ts.Check(os.Truncate(ts.MkAbs(args[0]), number(ts, args[1])))
}

func number(ts *testscript.TestScript, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	ts.Check(err)
	return n
}

// checkSHA256 compares a file's digest: sha256 FILE HEX.
func checkSHA256(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] sha256 FILE HEX")
	}
	got := fmt.Sprintf("%x", sha256.Sum256([]byte(ts.ReadFile(args[0]))))
	if (got == args[1]) == neg {
		ts.Fatalf("sha256 of %s is %s", args[0], got)
	}
}

// writeFixtureF makes a log of ten batches of 72 bytes each: batch i has base offset i, leader
// epoch 0, timestamp 1700000000000 + 1000*i and one record, key k<i>, value v<i>.
//
//	fixture-f FILE           all of it
//	fixture-f FILE 0,5,9     only some batches
//	fixture-f FILE 0@100,1@300   with other timestamps
func writeFixtureF(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: fixture-f FILE [I[@TIMESTAMP],...]")
	}
	which := "0,1,2,3,4,5,6,7,8,9"
	if len(args) == 2 {
		which = args[1]
	}
	var log []byte
	for item := range strings.SplitSeq(which, ",") {
		index, stamp, given := strings.Cut(item, "@")
		i := number(ts, index)
		at := 1700000000000 + 1000*i
		if given {
			at = number(ts, stamp)
		}
		log = appendFixtureBatch(ts, log, i, at)
	}
	writeFile(ts, args[0], log)
}

func appendFixtureBatch(ts *testscript.TestScript, dst []byte, i, timestamp int64) []byte {
	meta := record.NoProducer()
	meta.BaseOffset, meta.LeaderEpoch = i, 0
	b := record.NewBuilder()
	b.Reset(meta)
	b.Append(&record.Record{
		Offset: i, Timestamp: timestamp,
		Key: fmt.Appendf(nil, "k%d", i), Value: fmt.Appendf(nil, "v%d", i),
	})
	dst, err := b.Build(dst)
	ts.Check(err)
	return dst
}
