//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"os"

	"hostler/interpreter/host"
	"hostler/testdata/lab"
)

// world is all of a host that the crash recipe may change: files, what units
// and machines are doing, and the names of what hostler remembers.
type world struct {
	files   map[string]lab.Entry
	running []string
}

// worldDirs are the directories that a world has the files of.
func worldDirs() []string { return []string{"/etc", "/opt", "/root", "/usr/local", "/var/lib/crash"} }

// runningScript prints what is not in files.
const runningScript = `
systemctl show --property=Id,LoadState,ActiveState,SubState,UnitFileState,NeedDaemonReload,Environment,FragmentPath,DropInPaths \
	crash-main.service crash-once.service foreign-masked.service foreign-extended.service systemd-nspawn@crashbox.service
machinectl list --no-legend | cut -d' ' -f1 | sort
find /run/crash /var/lib/machines -maxdepth 2 -not -path '*/crashbox/*' | sort
find /run/hostler/debts -mindepth 1 | sort
find /var/lib/hostler -maxdepth 2 -not -path '*/cache/*' 2>/dev/null | sort
cat /run/crash/config-in-use /var/lib/machines/crashbox/etc/inside /var/lib/machines/crashbox/etc/later
exit 0
`

func look(t *testing.T, h *lab.Host) world {
	t.Helper()
	return world{files: filesOf(t, h), running: strings.Split(h.MustExec("sh", "-c", runningScript+" 2>/dev/null"), "\n")}
}

func filesOf(t *testing.T, h *lab.Host) map[string]lab.Entry {
	t.Helper()
	files := map[string]lab.Entry{}
	for _, dir := range worldDirs() {
		outside := filepath.Join(h.Root(), dir)
		if _, err := os.Lstat(outside); err != nil {
			continue
		}
		for name, entry := range lab.Snapshot(t, outside) {
			files[path.Join(dir, name)] = entry
		}
	}
	return files
}

// differences are those of two worlds, "" when they are the same.
func differences(want, got world) string {
	lines := lab.Changes(want.files, got.files)
	for _, line := range want.running {
		if !slices.Contains(got.running, line) {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range got.running {
		if !slices.Contains(want.running, line) {
			lines = append(lines, "+ "+line)
		}
	}
	return strings.Join(lines, "\n")
}

// torn lists the files that are neither as they were before a run nor as they
// are after it: there must be none at any moment, but temporary ones.
func torn(before, after, now map[string]lab.Entry) (bad []string) {
	for _, name := range slices.Sorted(maps.Keys(now)) {
		entry := now[name]
		old, was := before[name]
		new, will := after[name]
		switch {
		case host.IsTemporary(name) || strings.Contains(name, ".hostler-restore") || entry.Mode.IsDir() && !was && !will:
		case was && same(old, entry) || will && same(new, entry):
		default:
			bad = append(bad, fmt.Sprintf("%s: %+v, before %+v, after %+v", name, entry, old, new))
		}
	}
	for name, entry := range before {
		if _, there := now[name]; !there && same(entry, after[name]) {
			bad = append(bad, name+" is gone, and is there before and after")
		}
	}
	return bad
}

func same(a, b lab.Entry) bool {
	return a.Mode == b.Mode && a.UID == b.UID && a.GID == b.GID && a.Content == b.Content && slices.Equal(a.Xattrs, b.Xattrs)
}

// times are the modification times of files that were there before us.
func times(t *testing.T, h *lab.Host, names ...string) (all []string) {
	t.Helper()
	for _, name := range names {
		var st syscall.Stat_t
		if err := syscall.Lstat(filepath.Join(h.Root(), name), &st); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %d.%09d", name, st.Mtim.Sec, st.Mtim.Nsec))
	}
	return all
}
