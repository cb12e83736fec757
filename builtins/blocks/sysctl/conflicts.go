package sysctl

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// dirs are read at boot; of files with one name, the one in the first of them
// wins.
var dirs = [...]string{dir, "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"}

// classic is read last by sysctl --system, and by systemd-sysctl where a
// drop-in links to it.
const classic = "/etc/sysctl.conf"

// conflict is a line that sets one of our parameters to another value, after
// us.
type conflict struct {
	file, name, value string
	line              int
}

// warnOfConflicts tells of files that undo a value at the next boot. That they
// cannot be read is no fault of the step.
func (s *step) warnOfConflicts(do block.Do) {
	for _, c := range s.conflicts(do.View.Files) {
		do.Warn(block.Warning{
			Summary: fmt.Sprintf("%s is set again by %s", c.name, c.file),
			Detail: fmt.Sprintf("Line %d of %s sets it to %q and is read after %s, so %q is lost at the next boot; take the line out, or give the drop-in a name that sorts later.",
				c.line, c.file, c.value, s.file.Path, s.values[c.name]),
		})
	}
}

func (s *step) conflicts(f host.FileView) (found []conflict) {
	for _, file := range s.later(f) {
		raw, err := thing.ReadAll(f, file)
		if err != nil {
			continue
		}
		for i, line := range strings.Split(string(raw), "\n") {
			name, value, ok := assignment(line)
			if want, ours := s.values[name]; ok && ours && value != want {
				found = append(found, conflict{file, name, value, i + 1})
			}
		}
	}
	return found
}

// assignment reads a line of sysctl.d(5). Patterns do not count: a parameter
// that is written out wins over them.
func assignment(line string) (name, value string, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' || line[0] == ';' {
		return "", "", false
	}
	name, value, ok = strings.Cut(strings.TrimPrefix(line, "-"), "=")
	return thing.SysctlName(strings.TrimSpace(name)), thing.SysctlValue(value), ok
}

// later lists the files that are read after ours, in their order.
func (s *step) later(f host.FileView) (files []string) {
	taken := map[string]bool{}
	for _, d := range dirs {
		names, err := host.Names(f, d)
		if err != nil {
			continue
		}
		for _, n := range names {
			if !strings.HasSuffix(n, ".conf") || taken[n] {
				continue
			}
			taken[n] = true
			if n > path.Base(s.file.Path) {
				files = append(files, path.Join(d, n))
			}
		}
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(path.Base(a), path.Base(b)) })
	if slices.ContainsFunc(files, func(file string) bool { return leadsTo(f, file, classic) }) {
		return files // it is among them by a link
	}
	return append(files, classic)
}

func leadsTo(f host.FileView, file, target string) bool {
	end, err := thing.FollowLinks(f, file)
	return err == nil && end == target
}
