package offline

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// holder is the process that has locked a directory exclusively, nil if that
// cannot be told.
func holder(dir afero.File) *host.Holder {
	info, err := dir.Stat()
	if err != nil {
		return nil
	}
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil
	}
	st := host.StatOf(info)
	pid := lockedBy(string(text), fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino))
	if pid <= 0 {
		return nil
	}
	return &host.Holder{PID: pid, Command: commandOf(pid)}
}

// lockedBy finds, in the text of /proc/locks, who holds the exclusive flock of
// an inode, given as device and number the way it is written there. 0 is nobody
// who can be seen.
func lockedBy(locks, inode string) int {
	for line := range strings.Lines(locks) {
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || f[3] != "WRITE" || f[5] != inode {
			continue
		}
		pid, err := strconv.Atoi(f[4])
		if err == nil {
			return pid
		}
	}
	return 0
}

// commandOf is the program and verb that a process runs, without the arguments
// after it: they may be secret.
func commandOf(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	argv := strings.Split(string(line), "\x00")
	if err != nil || argv[0] == "" {
		return "unknown"
	}
	name := filepath.Base(argv[0])
	if name == "hostler" && len(argv) > 1 && !strings.HasPrefix(argv[1], "-") {
		name += " " + argv[1]
	}
	return name
}
