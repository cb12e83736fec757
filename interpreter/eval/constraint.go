package eval

import (
	"fmt"
	"strconv"
	"strings"
)

// version is dotted numbers with an optional pre-release, for example
// "24.04" or "1.2.0-rc1". Missing numbers count as zero.
type version struct {
	numbers []uint64
	pre     string
}

// parseVersion reads a version. Build metadata after "+" is left out.
func parseVersion(s string) (version, error) {
	text, _, _ := strings.Cut(s, "+")
	digits, pre, _ := strings.Cut(text, "-")
	v := version{pre: pre}
	for _, part := range strings.Split(digits, ".") {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return version{}, fmt.Errorf("%q is no version: write dotted numbers, for example \"3.0\"", s)
		}
		v.numbers = append(v.numbers, n)
	}
	return v, nil
}

func (v version) at(i int) uint64 {
	if i < len(v.numbers) {
		return v.numbers[i]
	}
	return 0
}

// compare is negative when v is older than o. A pre-release is older than its
// release.
func (v version) compare(o version) int {
	for i := range max(len(v.numbers), len(o.numbers)) {
		switch {
		case v.at(i) < o.at(i):
			return -1
		case v.at(i) > o.at(i):
			return 1
		}
	}
	switch {
	case v.pre == o.pre:
		return 0
	case v.pre == "":
		return 1
	case o.pre == "":
		return -1
	}
	return comparePre(strings.Split(v.pre, "."), strings.Split(o.pre, "."))
}

// comparePre compares the parts of two pre-releases as semantic versioning
// does: numbers before words, numbers by value.
func comparePre(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		n, notA := strconv.ParseUint(a[i], 10, 64)
		m, notB := strconv.ParseUint(b[i], 10, 64)
		switch {
		case notA == nil && notB == nil && n < m, notA == nil && notB != nil:
			return -1
		case notA == nil && notB == nil, notB == nil:
			return 1
		}
		return strings.Compare(a[i], b[i])
	}
	return len(a) - len(b)
}

// constraint is a list of conditions on a version that must all hold.
type constraint []condition

type condition struct {
	op string
	v  version
}

// operators are longest first, so that a prefix never wins.
var operators = [...]string{">=", "<=", "!=", "~>", "=", ">", "<"}

// parseConstraint reads conditions separated by commas: ">= 3.0, < 4.0". One
// without an operator means equality.
func parseConstraint(s string) (constraint, error) {
	var c constraint
	for _, part := range strings.Split(s, ",") {
		cond, err := parseCondition(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		c = append(c, cond)
	}
	return c, nil
}

func parseCondition(s string) (condition, error) {
	op := "="
	for _, o := range operators {
		if rest, ok := strings.CutPrefix(s, o); ok {
			op, s = o, strings.TrimSpace(rest)
			break
		}
	}
	v, err := parseVersion(s)
	if err != nil {
		return condition{}, fmt.Errorf("%w; a constraint is such as \">= 3.0, < 4.0\" or \"~> 3.0\"", err)
	}
	if op == "~>" && len(v.numbers) < 2 {
		return condition{}, fmt.Errorf("\"~> %s\" leaves open which number may grow: write \"~> %s.0\"", s, s)
	}
	return condition{op, v}, nil
}

// allows says whether the version meets every condition.
func (c constraint) allows(v version) bool {
	for _, cond := range c {
		if !cond.holds(v) {
			return false
		}
	}
	return true
}

func (c condition) holds(v version) bool {
	order := v.compare(c.v)
	switch c.op {
	case ">=":
		return order >= 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case "<":
		return order < 0
	case "!=":
		return order != 0
	case "~>":
		return order >= 0 && v.compare(c.v.ceiling()) < 0 && !(v.pre != "" && v.release().compare(c.v.ceiling()) == 0)
	}
	return order == 0
}

// release is v without its pre-release.
func (v version) release() version { return version{numbers: v.numbers} }

// ceiling is the first version that "~> v" no longer allows: the last but one
// number grown by one.
func (v version) ceiling() version {
	numbers := append([]uint64(nil), v.numbers[:len(v.numbers)-1]...)
	numbers[len(numbers)-1]++
	return version{numbers: numbers}
}
