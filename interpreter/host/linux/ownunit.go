package linux

import (
	"os"
	"path"
	"strings"
)

// OwnUnit is the unit that this process runs in, "" if there is none: no
// systemd runs here, or the process belongs to a login session, whose units
// are not managed by a recipe.
func OwnUnit() string {
	if !booted() {
		return ""
	}
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	return unitOfCgroup(string(text))
}

// booted says whether systemd is the service manager, as sd_booted(3) does.
func booted() bool {
	info, err := os.Lstat("/run/systemd/system")
	return err == nil && info.IsDir()
}

// unitOfCgroup finds the unit in the lines of /proc/PID/cgroup, for example
// "0::/system.slice/hostler.service" or "1:name=systemd:/…".
func unitOfCgroup(text string) string {
	unified := ""
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) != 3 {
			continue
		}
		if fields[1] == "name=systemd" {
			return unitOfPath(fields[2])
		}
		if fields[0] == "0" && fields[1] == "" {
			unified = fields[2]
		}
	}
	return unitOfPath(unified)
}

// unitOfPath is the first component below the slices: what is deeper was made
// by the unit for itself.
func unitOfPath(group string) string {
	for part := range strings.SplitSeq(strings.Trim(path.Clean("/"+group), "/"), "/") {
		// Names that would clash with the kernel's files have a "_" before.
		name := strings.TrimPrefix(part, "_")
		if name == "user.slice" {
			return ""
		}
		if !strings.HasSuffix(name, ".slice") {
			return serviceOnly(name)
		}
	}
	return ""
}

func serviceOnly(name string) string {
	switch path.Ext(name) {
	case ".service", ".socket", ".mount", ".swap":
		return name
	}
	return ""
}
