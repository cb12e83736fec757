package memory

import (
	"maps"
	"path"
	"strconv"
	"strings"

	"hostler/interpreter/host"
)

// bootKernel is the kernel after a boot: what the image says, and what
// /etc/sysctl.d, /etc/modules-load.d and /etc/fstab add.
func (m *Memory) bootKernel(first bool) {
	opts := m.opts.Kernel
	m.kernel = kernelState{sysctl: maps.Clone(opts.Sysctl), modules: map[string]bool{}, swaps: swapAreas(opts.Swaps)}
	if m.kernel.sysctl == nil {
		m.kernel.sysctl = map[string]string{}
	}
	m.kernel.sysctl[hostnameKey] = m.opts.Hostname
	for name, loaded := range opts.Modules {
		m.kernel.modules[moduleName(name)] = loaded
	}
	r := unitReader{m.admin}
	for _, line := range r.configLines("modules-load.d") {
		if _, ok := m.kernel.modules[moduleName(line)]; ok {
			m.kernel.modules[moduleName(line)] = true
		}
	}
	for _, line := range r.configLines("sysctl.d") {
		key, value, _ := strings.Cut(strings.TrimPrefix(line, "-"), "=")
		key = sysctlKey(strings.TrimSpace(key))
		if _, ok := m.kernel.sysctl[key]; ok {
			m.kernel.sysctl[key] = strings.TrimSpace(value)
		}
	}
	if fstab, err := r.content("/etc/fstab"); err == nil && !first {
		m.kernel.swaps = fstabSwaps(fstab)
	}
}

// swapAreas are areas whose priority the kernel chooses.
func swapAreas(names []string) (list []host.SwapArea) {
	for _, name := range names {
		list = append(list, host.SwapArea{Name: name, Priority: -1})
	}
	return list
}

func fstabSwaps(fstab string) (list []host.SwapArea) {
	for _, line := range strings.Split(fstab, "\n") {
		f := strings.Fields(line)
		if len(f) < 3 || strings.HasPrefix(f[0], "#") || f[2] != "swap" {
			continue
		}
		area := host.SwapArea{Name: f[0], Priority: -1}
		for _, option := range strings.Split(strings.Join(f[3:min(len(f), 4)], ""), ",") {
			if n, err := strconv.Atoi(strings.TrimPrefix(option, "pri=")); err == nil {
				area.Priority = n
			}
		}
		list = append(list, area)
	}
	return list
}

// configLines are the lines of the .conf files of a directory that exists in
// /etc, /run and /usr/lib, the first file of a name winning.
func (r unitReader) configLines(dir string) (lines []string) {
	best := map[string]string{}
	for _, top := range []string{"/etc", "/run", "/usr/lib"} {
		for _, name := range r.names(path.Join(top, dir)) {
			if _, taken := best[name]; !taken && strings.HasSuffix(name, ".conf") {
				best[name] = path.Join(top, dir, name)
			}
		}
	}
	for _, name := range sortedKeys(best) {
		if content, err := r.content(best[name]); err == nil {
			lines = append(lines, logicalLines(content)...)
		}
	}
	return lines
}
