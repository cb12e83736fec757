// Package lint finds what is wrong in a recipe although it is valid: what a
// host would ignore without a word, what works today and fails at the next
// boot, what shows a secret, what is never undone.
//
// A [Rule] is one named question, in one file of package rules, with its
// documentation and two examples that run as tests. A [Linter] reads each
// recipe once; all rules look at the same [Pass], which holds the parsed text,
// the steps with what their arguments evaluate to without a host, the unit
// files with the place of every line in the recipe or its assets, and the files
// that are written. What is not known without a host is not judged.
//
// A finding can be answered in the recipe:
//
//	# hostler:ignore RULE the reason why it is right here
//
// on the line of, or the line above, the argument or block that it is about. A
// reason is required, and a comment that answers nothing is itself a finding.
// Faults that make a recipe invalid are findings of the rule "validate", which
// nothing switches off.
package lint
