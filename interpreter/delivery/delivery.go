// Package delivery is the one list of names and paths that hostler has on a
// host before and beside a recipe: what a first boot is delivered with (boot
// unit, program, recipe, inputs, credentials), where the interpreter is
// installed, and what its own units are called and say.
//
// Who writes these files (render), who installs and upgrades the interpreter,
// and who removes it all (reset) read them from here, so that nothing is
// written under one name and removed under another.
package delivery

import (
	"path"
	"strings"
)

// The interpreter's own units.
const (
	// BootUnit installs, continues, or verifies and repairs, at every boot.
	BootUnit = "hostler-boot.service"
	// DaemonUnit watches a complete installation.
	DaemonUnit = "hostler-daemon.service"
	// RecoveryUnit goes back to the last good interpreter when the daemon
	// fails again and again.
	RecoveryUnit = "hostler-recovery.service"
)

// Units are the interpreter's own units, in the order in which a reset takes
// them away: those that could start others first.
func Units() []string { return []string{BootUnit, RecoveryUnit, DaemonUnit} }

// UnitPath is where the file of a unit of ours is.
func UnitPath(unit string) string { return "/etc/systemd/system/" + unit }

// What is delivered beside the boot unit and the program.
const (
	// Dir holds what is delivered: root's, 0700.
	Dir = "/etc/hostler"
	// InputsHCL and InputsJSON are inputs, in either form, 0600.
	InputsHCL  = Dir + "/inputs.hcl"
	InputsJSON = Dir + "/inputs.json"
	// RecipeDir holds a recipe that the program does not bring: recipe.hcl
	// and its files.
	RecipeDir = Dir + "/recipe"
	// CredentialsDir holds one file for each sensitive variable, named as it
	// is, 0600.
	CredentialsDir = Dir + "/credentials"
	// Staging is what the names of directories begin with in which a program
	// is unpacked before it is installed: below /var/lib, because /tmp may
	// not be executed from. Whoever makes one removes it.
	Staging = "/var/lib/hostler/install."
)

// The names of programs and links below PREFIX/bin.
const (
	program  = "hostler"
	blue     = "hostler-blue"
	green    = "hostler-green"
	next     = "hostler-next"
	current  = "hostler-current"
	lastGood = "hostler-last-good"
)

// Bin is the directory that holds the program, below a prefix.
func Bin(prefix string) string { return path.Join(prefix, "bin") }

// Program is where the program is delivered, and found by people: a file at
// first, a link to Current once it is installed.
func Program(prefix string) string { return path.Join(Bin(prefix), program) }

// Slots are the two places that the interpreter is installed in.
func Slots(prefix string) [2]string {
	return [2]string{path.Join(Bin(prefix), blue), path.Join(Bin(prefix), green)}
}

// Next is where a new program is tried before it is put into a slot.
func Next(prefix string) string { return path.Join(Bin(prefix), next) }

// Current is the link to the slot that runs.
func Current(prefix string) string { return path.Join(Bin(prefix), current) }

// LastGood is the link to the slot to go back to.
func LastGood(prefix string) string { return path.Join(Bin(prefix), lastGood) }

// Programs are all of the program: what is delivered, the slots and the links.
func Programs(prefix string) []string {
	slots := Slots(prefix)
	return []string{Program(prefix), Current(prefix), LastGood(prefix), slots[0], slots[1]}
}

// Delivered are the files and trees that may have been delivered, in the order
// in which they are claimed: a reset removes them, though they were there
// before the installation.
func Delivered(prefix string) []string {
	return []string{Program(prefix), InputsHCL, InputsJSON, RecipeDir, CredentialsDir, UnitPath(BootUnit)}
}

// MayBeDelivered says whether an executable was delivered below some prefix.
func MayBeDelivered(executable string) bool {
	return IsDelivered(path.Dir(path.Dir(executable)), executable)
}

// IsDelivered says whether an executable is one that was delivered, and not one
// that is installed in a slot: the delivered program, or one in a staging
// directory.
func IsDelivered(prefix, executable string) bool {
	return executable == Program(prefix) || strings.HasPrefix(executable, Staging)
}
