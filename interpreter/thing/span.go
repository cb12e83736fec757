package thing

import (
	"fmt"
	"strconv"
	"strings"
)

// Span is a range of numbers, both ends included, with a common prefix.
type Span struct {
	Prefix      string
	First, Last int
}

// maxSpan bounds how many numbers a range may hold.
const maxSpan = 65536

// ParseSpan reads "7", "51820-51899" or "wg51820-51899".
func ParseSpan(s string) (Span, error) {
	digits := strings.IndexAny(s, "0123456789")
	if digits < 0 {
		return Span{}, fmt.Errorf("%q is no range; write one such as \"51820-51899\" or \"wg51820-51899\"", s)
	}
	span := Span{Prefix: s[:digits]}
	first, last, isRange := strings.Cut(s[digits:], "-")
	if !isRange {
		last = first
	}
	var err1, err2 error
	span.First, err1 = strconv.Atoi(first)
	span.Last, err2 = strconv.Atoi(last)
	switch {
	case err1 != nil || err2 != nil || strings.ContainsAny(last, "+-"):
		return Span{}, fmt.Errorf("%q is no range; write one such as \"51820-51899\" or \"wg51820-51899\"", s)
	case span.Last < span.First:
		return Span{}, fmt.Errorf("%q runs backwards; write \"%s%d-%d\"", s, span.Prefix, span.Last, span.First)
	case span.Last-span.First >= maxSpan:
		return Span{}, fmt.Errorf("%q holds more than %d numbers", s, maxSpan)
	}
	return span, nil
}

// Has says whether n lies in a range without a prefix.
func (s Span) Has(n int) bool { return s.Prefix == "" && n >= s.First && n <= s.Last }

// HasName says whether name is the prefix and a number of the range, written
// without leading zeros.
func (s Span) HasName(name string) bool {
	rest, ok := strings.CutPrefix(name, s.Prefix)
	n, err := strconv.Atoi(rest)
	return ok && err == nil && strconv.Itoa(n) == rest && n >= s.First && n <= s.Last
}
