package host

import "strings"

// ValidMachineName says whether systemd takes name as that of a machine: it
// holds it to the rules for host names, at most 64 bytes of labels of letters,
// digits and dashes that are parted by single dots and neither begin nor end
// with a dash.
func ValidMachineName(name string) bool {
	if len(name) > 64 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || strings.Trim(label, "-") != label || strings.ContainsFunc(label, notInLabel) {
			return false
		}
	}
	return true
}

func notInLabel(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	digit := r >= '0' && r <= '9'
	return !letter && !digit && r != '-'
}
