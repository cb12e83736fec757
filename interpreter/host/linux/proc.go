package linux

import (
	"strconv"
	"strings"
)

// afterName are the fields of /proc/PID/stat after the name of the program,
// which is in parentheses and may hold anything: the first is the state.
func afterName(stat string) []string {
	return strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
}

// exiting is the flag of a process that ends, PF_EXITING of the kernel's
// sched.h. The first process of a machine is one for as long as it takes to kill
// the others, and has no root directory any more.
const exiting = 0x4

// hasEnded says whether a process has ended or is about to, from its
// /proc/PID/stat: what is left of it cannot be entered.
func hasEnded(stat string) bool {
	fields := afterName(stat)
	if len(fields) == 0 || fields[0] == "Z" || fields[0] == "X" {
		return true
	}
	if len(fields) < 7 {
		return false
	}
	flags, err := strconv.ParseUint(fields[6], 10, 64)
	return err == nil && flags&exiting != 0
}
