package memory

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"syscall"

	"hostler/interpreter/host"
)

// directories are what every host and every machine has.
func directories() map[string]uint32 {
	return map[string]uint32{
		"/etc/systemd/system": 0o755, "/usr/bin": 0o755, "/usr/sbin": 0o755, "/usr/lib/systemd/system": 0o755,
		"/usr/local/bin": 0o755, "/usr/local/sbin": 0o755, "/usr/local/lib": 0o755, "/var/lib": 0o755,
		"/var/tmp": 0o1777, "/tmp": 0o1777, "/run": 0o755, "/root": 0o700, "/opt": 0o755, "/mnt": 0o755,
		"/proc": 0o555, "/sys": 0o555, "/dev": 0o755,
	}
}

// seed fills the file system as an operating system image does.
func (m *Memory) seed() {
	m.mountStatic(Mount{Point: "/run", Type: "tmpfs"})
	m.plantSystem("/", m.opts.OSRelease)
	m.plant(host.MachinesDir, File{Dir: true, Mode: 0o700})
	if !m.opts.NoSystemdContainer {
		m.plant(unitLib+"/systemd-nspawn@.service", File{Content: nspawnUnit})
		m.plant("/usr/bin/systemd-nspawn", File{Mode: 0o755})
	}
	for _, mnt := range m.opts.Mounts {
		m.mountStatic(mnt)
	}
	for _, tool := range m.opts.Executables {
		if !path.IsAbs(tool) {
			tool = "/usr/bin/" + tool
		}
		m.plant(tool, File{Mode: 0o755})
	}
	m.plantAll("/", m.opts.Files)
	m.plantUnits("/", m.opts.Units)
	for _, machine := range m.opts.Machines {
		m.plantMachine(machine)
	}
	for _, name := range m.opts.BindFiles {
		m.bindFile(name)
	}
	for _, dir := range m.opts.ReadOnly {
		m.bindReadOnly(dir)
	}
}

// plantSystem makes what a tree with systemd in it has.
func (m *Memory) plantSystem(root, osRelease string) {
	for name, mode := range directories() {
		m.plant(path.Join(root, name), File{Dir: true, Mode: mode})
	}
	for link, target := range map[string]string{
		"/bin": "usr/bin", "/sbin": "usr/sbin", "/lib": "usr/lib", "/var/run": "/run",
		"/etc/systemd/system/multi-user.target.wants/machines.target": unitLib + "/machines.target",
	} {
		m.plant(path.Join(root, link), File{Link: target})
	}
	for _, tool := range []string{"true", "false", "sleep", "sh"} {
		m.plant(path.Join(root, "usr/bin", tool), File{Mode: 0o755})
	}
	if osRelease != "none" {
		m.plant(path.Join(root, "/usr/lib/os-release"), File{Content: osRelease})
		m.plant(path.Join(root, "/etc/os-release"), File{Link: "../usr/lib/os-release"})
	}
	m.plant(path.Join(root, "/etc/passwd"), File{Content: "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"})
	m.plant(path.Join(root, "/etc/group"), File{Content: "root:x:0:\nadm:x:4:\nnogroup:x:65534:\n"})
	for name, content := range vendorTargets() {
		m.plant(path.Join(root, unitLib, name), content)
	}
}

func (m *Memory) plantAll(root string, all map[string]File) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m.plant(path.Join(root, name), all[name])
	}
}

const plainUnit = "[Service]\nExecStart=/usr/bin/sleep infinity\n\n[Install]\nWantedBy=multi-user.target\n"

func (m *Memory) plantUnits(root string, units []Unit) {
	for _, u := range units {
		content := u.Content
		if content == "" {
			content = plainUnit
		}
		file := path.Join(unitLib, u.Name)
		if _, instance := template(u.Name); instance == "" {
			m.plant(path.Join(root, file), File{Content: content})
		}
		if u.Enabled {
			m.plant(path.Join(root, unitEtc, "multi-user.target.wants", u.Name), File{Link: file})
		}
	}
}

func (m *Memory) plantMachine(machine Machine) {
	root := host.MachineRoot(machine.Name)
	osRelease := machine.OSRelease
	if osRelease == "" {
		osRelease = m.opts.OSRelease
	}
	m.plantSystem(root, osRelease)
	m.plantAll(root, machine.Files)
	m.plantUnits(root, machine.Units)
	if machine.Enabled {
		m.plant(path.Join(unitEtc, "machines.target.wants", nspawnInstance(machine.Name)),
			File{Link: unitLib + "/systemd-nspawn@.service"})
	}
}

// plant makes one file with its parents; a name that is taken is replaced.
func (m *Memory) plant(name string, f File) {
	if err := m.tryPlant(name, f); err != nil {
		panic(fmt.Sprintf("memory host: options ask for %s: %v", name, err))
	}
}

func (m *Memory) tryPlant(name string, f File) error {
	if err := m.admin.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	mode := f.Mode
	switch {
	case f.Dir:
		if mode == 0 {
			mode = 0o755
		}
		if err := m.admin.MkdirAll(name, 0o755); err != nil {
			return err
		}
	case f.Link != "":
		if err := m.admin.RemoveAll(name); err != nil {
			return err
		}
		if err := m.admin.SymlinkIfPossible(f.Link, name); err != nil {
			return err
		}
		return m.admin.Lchown(name, f.UID, f.GID)
	default:
		if mode == 0 {
			mode = 0o644
		}
		if err := m.fill(name, f.Content); err != nil {
			return err
		}
	}
	return m.dress(name, f, host.FileMode(mode))
}

// dress sets owner, mode and extended attributes, in the order that keeps all.
func (m *Memory) dress(name string, f File, mode fs.FileMode) error {
	if err := m.admin.Lchown(name, f.UID, f.GID); err != nil {
		return err
	}
	for attribute, value := range f.Xattrs {
		if err := m.admin.Lsetxattr(name, attribute, []byte(value)); err != nil {
			return err
		}
	}
	return m.admin.Chmod(name, mode)
}

func (m *Memory) fill(name, content string) error {
	file, err := m.admin.OpenFile(name, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	if _, err := file.WriteString(content); err != nil {
		return err
	}
	return file.Close()
}
