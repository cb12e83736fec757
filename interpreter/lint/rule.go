package lint

import "fmt"

// Rule is one named question to a recipe. It is immutable.
type Rule struct {
	// Name is lower-case words with dashes, that of the rule's file.
	Name string
	// Summary is two to five words: the title of its findings.
	Summary  string
	Severity Severity
	// Profile is the smallest set of rules that it belongs to.
	Profile Profile
	// Doc says what is wrong, what happens on a host, and what to write, in
	// Markdown.
	Doc string
	// Bad and Good are recipes, or parts of one. In Bad the marks « and »
	// stand around what is found; the rule finds nothing in Good.
	Bad, Good string
	// Fixes says that its findings may carry a fix.
	Fixes bool
	// Check looks and reports. It is nil for rules of the linter itself.
	Check func(*Pass)
}

// Severity says how bad a finding is.
type Severity int

// The severities, least first.
const (
	Warning Severity = iota // probably wrong, or wrong under some circumstances
	Error                   // does not do what it says
)

func (s Severity) String() string {
	if s == Error {
		return "error"
	}
	return "warning"
}

// ParseSeverity reads the name of a severity.
func ParseSeverity(name string) (Severity, error) {
	switch name {
	case "warning":
		return Warning, nil
	case "error":
		return Error, nil
	}
	return 0, fmt.Errorf("%q is no severity; write \"error\" or \"warning\"", name)
}

// Profile is a set of rules. Each holds those before it.
type Profile int

// The profiles.
const (
	Basic  Profile = iota // what does not work, or not as written
	Safe                  // and what is known to hurt later
	Strict                // and what careful authors do
)

func (p Profile) String() string { return profileNames()[p] }

func profileNames() []string { return []string{"basic", "safe", "strict"} }

// ParseProfile reads the name of a profile.
func ParseProfile(name string) (Profile, error) {
	for i, known := range profileNames() {
		if name == known {
			return Profile(i), nil
		}
	}
	return 0, fmt.Errorf("%q is no profile; write \"basic\", \"safe\" or \"strict\"", name)
}

// Names of the rules that the linter itself reports.
const (
	ruleValidate    = "validate"
	ruleSuppression = "suppression"
)
