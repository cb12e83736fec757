// Package builtins is the vocabulary of the language: all block types, one
// folder each below blocks, and all pure functions.
package builtins

//go:generate go run ./generate

import (
	"hostler/builtins/functions"
	"hostler/interpreter/block"
)

// Vocabulary returns the block types, in the order of their names, and the
// functions.
func Vocabulary() block.Vocabulary {
	return block.Vocabulary{Types: types(), Functions: functions.All}
}
