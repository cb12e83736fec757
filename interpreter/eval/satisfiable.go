package eval

// Satisfiable says whether some version meets a constraint such as
// ">= 3.0, < 4.0". A text that is no constraint is an error.
func Satisfiable(text string) (bool, error) {
	c, err := parseConstraint(text)
	if err != nil {
		return false, err
	}
	// Between two neighbouring bounds all versions are alike, so it is enough
	// to try each bound, a version just above it, and the ends.
	tries := []version{{numbers: []uint64{0}}, {numbers: []uint64{1 << 31}}}
	for _, cond := range c {
		above := version{numbers: append(append([]uint64(nil), cond.v.numbers...), 0, 0, 1)}
		tries = append(tries, cond.v, above)
	}
	for _, v := range tries {
		if c.allows(v) {
			return true, nil
		}
	}
	return false, nil
}

// Allows says whether a constraint allows a version; false for texts that are
// none.
func Allows(constraint, given string) bool {
	c, err := parseConstraint(constraint)
	if err != nil {
		return false
	}
	v, err := parseVersion(given)
	return err == nil && c.allows(v)
}
