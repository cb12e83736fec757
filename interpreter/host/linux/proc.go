package linux

import (
	"strings"
)

// afterName are the fields of /proc/PID/stat after the name of the program,
// which is in parentheses and may hold anything: the first is the state.
func afterName(stat string) []string {
	return strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
}

// isZombie says whether a process has ended and is only not yet waited for,
// from its /proc/PID/stat.
func isZombie(stat string) bool {
	fields := afterName(stat)
	return len(fields) == 0 || fields[0] == "Z" || fields[0] == "X"
}
