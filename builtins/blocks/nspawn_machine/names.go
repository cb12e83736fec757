package nspawnmachine

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

// checkName holds a machine's name to what systemd takes: the rules of host
// names.
func checkName(name string) error {
	const rule = "A machine name is 1 to 64 letters, digits, dashes and dots; each part between dots begins and ends with a letter or digit."
	if len(name) > 64 {
		return fmt.Errorf("%q is %d bytes long. %s", name, len(name), rule)
	}
	if !host.ValidMachineName(name) {
		return fmt.Errorf("systemd does not take %q as the name of a machine. %s", name, rule)
	}
	return nil
}

func checkSlots(v cty.Value) error {
	var names []string
	for _, e := range v.AsValueSlice() {
		if e.IsNull() {
			return errors.New("Leave out the null in the list.")
		}
		if !e.IsKnown() {
			continue
		}
		name := e.AsString()
		if err := checkName(name); err != nil {
			return err
		}
		if slices.Contains(names, name) {
			return fmt.Errorf("%q is given twice; each slot needs a name of its own.", name)
		}
		names = append(names, name)
	}
	if len(v.AsValueSlice()) == 0 {
		return errors.New("Write the names of the slots, or leave slots out.")
	}
	return nil
}

// checkPatterns holds patterns to absolute, clean paths without what would
// break a line of the settings file or be read as two paths.
func checkPatterns(v cty.Value) error {
	for _, e := range v.AsValueSlice() {
		if e.IsNull() || !e.IsKnown() {
			continue
		}
		pattern := e.AsString()
		if err := block.CheckPath(pattern); err != nil {
			return err
		}
		if _, err := path.Match(pattern, "/"); err != nil {
			return fmt.Errorf("%q is no pattern: a bracket is not closed.", pattern)
		}
		if strings.ContainsAny(pattern, ":\n\r") {
			return fmt.Errorf("%q holds a colon or a line end, which a bind cannot have.", pattern)
		}
	}
	return nil
}

func checkCommands(v cty.Value) error {
	for _, e := range v.AsValueSlice() {
		if !e.IsWhollyKnown() {
			continue
		}
		if e.IsNull() {
			return errors.New("Leave out the null in the list.")
		}
		var argv []string
		for _, word := range e.AsValueSlice() {
			if word.IsNull() {
				return errors.New("Leave out the null in the command.")
			}
			argv = append(argv, word.AsString())
		}
		if err := block.CheckArgv(argv); err != nil {
			return err
		}
	}
	return nil
}
