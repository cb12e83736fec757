package linux

import (
	"os"
	"strconv"
	"strings"

	"hostler/interpreter/host"
)

// mount is a line of proc_pid_mountinfo(5):
//
//	36 35 98:0 /root /point opts shared:1 - ext4 /dev/root rw
type mount struct {
	id     uint64
	device string // "98:0"
	root   string // of the mount, inside its file system
	point  string // as seen from the root of the process
	kind   string
	source string
	opts   string // of the mount
	super  string // options of the file system
}

// selfMounts are the mounts that this process sees.
func selfMounts() ([]mount, error) { return readMounts("/proc/self/mountinfo") }

func readMounts(file string) ([]mount, error) {
	text, err := os.ReadFile(file)
	return parseMounts(string(text)), err
}

// parseMounts leaves out lines that are not what they should be.
func parseMounts(text string) []mount {
	var all []mount
	for _, line := range lines(text) {
		front, back, ok := strings.Cut(line, " - ")
		f, b := strings.Fields(front), strings.Fields(back)
		if !ok || len(f) < 6 || len(b) < 2 {
			continue
		}
		id, err := strconv.ParseUint(f[0], 10, 64)
		if err != nil {
			continue
		}
		m := mount{id: id, device: f[2], root: unescape(f[3]), point: unescape(f[4]), opts: f[5], kind: unescape(b[0]), source: unescape(b[1])}
		if len(b) > 2 {
			m.super = b[2]
		}
		all = append(all, m)
	}
	return all
}

// unescape undoes the kernel's octal escapes of blanks and backslashes.
func unescape(s string) string {
	var out strings.Builder
	for {
		before, after, ok := strings.Cut(s, `\`)
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		if n, err := strconv.ParseUint(after[:min(3, len(after))], 8, 8); err == nil && len(after) >= 3 {
			out.WriteByte(byte(n))
			s = after[3:]
			continue
		}
		out.WriteByte('\\')
		s = after
	}
}

func (m mount) state() host.MountState {
	return host.MountState{
		Point: m.point, Source: m.source, Type: m.kind,
		ReadOnly: has(m.opts, "ro") || has(m.super, "ro"),
		NoExec:   has(m.opts, "noexec") || has(m.super, "noexec"),
	}
}

func has(options, option string) bool {
	for o := range strings.SplitSeq(options, ",") {
		if o == option {
			return true
		}
	}
	return false
}

// under says whether name is dir or below it.
func under(name, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return name == dir || strings.HasPrefix(name, dir+"/")
}

// holding is the mount with the id, or, when the kernel gives no ids (before
// Linux 5.8), the one with the longest point above name. Of several at one
// point the last covers the others.
func holding(all []mount, id uint64, name string) (mount, bool) {
	best, found := mount{}, false
	for _, m := range all {
		if id != 0 && m.id == id {
			return m, true
		}
		if under(name, m.point) && (!found || len(m.point) >= len(best.point)) {
			best, found = m, true
		}
	}
	return best, found
}
