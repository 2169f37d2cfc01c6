package cmd

// nearest finds the candidate that a misspelt word probably means: the fewest edits,
// at most a third of the word's length and never more than three.
func nearest(word string, candidates []string) (string, bool) {
	best, bestDistance := "", min(3, max(1, len(word)/3))+1
	for _, c := range candidates {
		if d := editDistance(word, c); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best, best != ""
}

// editDistance counts insertions, deletions, substitutions and swaps of neighbours
// between two words, byte by byte.
func editDistance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost(a[i-1] != b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(b)]
}

func cost(differs bool) int {
	if differs {
		return 1
	}
	return 0
}
