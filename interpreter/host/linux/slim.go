package linux

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Slim gives back the memory that holds the program's own code and constants:
// what is needed of it is read from its file again. It is for a process that
// rests for a long time. Where the kernel does not go along, nothing is lost.
func Slim() error {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(bytes.NewReader(maps)); lines.Scan(); {
		start, end, access := mapping(lines.Text(), self)
		switch access {
		case "r-xp": // code is never written to
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, end-start, unix.MADV_DONTNEED)
		case "r--p":
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, end-start, unix.MADV_PAGEOUT)
		}
	}
	return nil
}

// mapping reads a line of /proc/PID/maps; access is "" for those of other files.
func mapping(line, file string) (start, end uintptr, access string) {
	if !strings.HasSuffix(line, " "+file) {
		return 0, 0, ""
	}
	if n, err := fmt.Sscanf(line, "%x-%x %s", &start, &end, &access); n != 3 || err != nil {
		return 0, 0, ""
	}
	return start, end, access
}
