// Package rules holds the rules of the linter, one a file. A file has the name
// of its rule and a function of that name that returns it; the list of all is
// generated from the file names.
//
// The examples of every rule are its tests: Bad is found by this rule alone,
// between the marks « and », and Good by none. An example without a recipe
// block stands in a recipe for a Debian 12 host.
package rules

//go:generate go run ../generate
