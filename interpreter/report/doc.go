// Package report turns what a walk said into text for people and JSON for
// programs. It takes no decisions and reads no host.
//
// JSON documents and events have format version 1. A field once released keeps
// its name and meaning.
package report

// FormatVersion is that of every JSON document and event.
const FormatVersion = "1"
