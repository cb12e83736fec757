package offline

import "testing"

func TestLockedBy(t *testing.T) {
	const locks = `1: POSIX  ADVISORY  WRITE 10 fe:00:77 0 EOF
2: FLOCK  ADVISORY  READ  11 fe:00:77 0 EOF
3: FLOCK  ADVISORY  WRITE 12 fe:00:78 0 EOF
4: FLOCK  ADVISORY  WRITE 13 fe:00:77 0 EOF
4: -> FLOCK  ADVISORY  WRITE 14 fe:00:79 0 EOF
5: FLOCK  ADVISORY  WRITE x fe:00:80 0 EOF
short
`
	for inode, want := range map[string]int{"fe:00:77": 13, "fe:00:78": 12, "fe:00:79": 0, "fe:00:80": 0, "": 0} {
		if got := lockedBy(locks, inode); got != want {
			t.Errorf("%s: %d, want %d", inode, got, want)
		}
	}
}

func TestCommandOfNobody(t *testing.T) {
	if got := commandOf(-1); got != "unknown" {
		t.Error(got)
	}
}
