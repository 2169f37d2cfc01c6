package compress

import "bytes"

const (
	// lz4LastLiterals is how many literals a block with a match in it ends in, at least.
	lz4LastLiterals = 5
	// lz4Tail is what stands behind the literals before a match, at least: its
	// distance, one more token, and the last literals.
	lz4Tail = 2 + 1 + lz4LastLiterals
)

// lz4EndsRight says whether a block that unpacked to out ends as the reference library
// demands. The library that unpacks for us takes one that ends in a match; Kafka's does
// not. Last literals stand at the end of both, so that hardly any block must be walked.
func lz4EndsRight(block, out []byte) bool {
	return bytes.HasSuffix(out, block[max(0, len(block)-lz4LastLiterals):]) || lz4WalksToEnd(block)
}

// lz4WalksToEnd walks the sequences of a block.
func lz4WalksToEnd(block []byte) bool {
	for pos := 0; pos < len(block); {
		token := block[pos]
		pos = lz4SkipLiterals(block, pos+1, int(token>>4))
		if pos > len(block)-lz4Tail {
			return pos == len(block)
		}
		pos += 2 // the distance of the match
		if token&0x0f == 0x0f {
			pos = lz4SkipLength(block, pos)
		}
	}
	return false
}

// lz4SkipLiterals skips literals whose number begins with four bits of the token. The
// block has unpacked, so the number is no larger than the block.
func lz4SkipLiterals(block []byte, pos, count int) int {
	if count < 0x0f {
		return pos + count
	}
	end := lz4SkipLength(block, pos)
	return end + count + 0xff*(end-pos-1) + int(block[end-1])
}

// lz4SkipLength skips the bytes that lengthen a number: any of 255, and one other.
func lz4SkipLength(block []byte, pos int) int {
	for block[pos] == 0xff {
		pos++
	}
	return pos + 1
}
