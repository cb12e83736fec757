package syntax

import "strings"

// Suggest returns the candidate nearest to what was given, by the number of
// letters to insert, delete, replace or swap; "" if none is near. Among
// equally near ones the alphabetically first is taken, so that the order of
// candidates does not matter.
func Suggest(given string, candidates []string) string {
	if len(given) > 100 {
		return ""
	}
	best, least := "", 1+min(max(len(given)/3, 1), len(given)-1)
	for _, c := range candidates {
		if c == given {
			continue
		}
		d := distance(fold(given), fold(c))
		if d < least || d == least && best != "" && c < best {
			best, least = c, d
		}
	}
	if best == "" {
		return onlyExtension(given, candidates)
	}
	return best
}

// onlyExtension is the one candidate that begins with what was given.
func onlyExtension(given string, candidates []string) string {
	found := ""
	for _, c := range candidates {
		if len(given) < 3 || c == given || c == found || !strings.HasPrefix(fold(c), fold(given)) {
			continue
		}
		if found != "" {
			return ""
		}
		found = c
	}
	return found
}

// fold takes differences away that are none to a reader.
func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }

// distance is the Damerau-Levenshtein distance of two texts (optimal string
// alignment), over runes.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	rows := make([][]int, len(from)+1)
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(from); i++ {
		for j := 1; j <= len(to); j++ {
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+differ(from[i-1], to[j-1]))
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(from)][len(to)]
}

func differ(a, b rune) int {
	if a == b {
		return 0
	}
	return 1
}
