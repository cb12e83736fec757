package scene

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

// builder fills the options of a host in memory.
type builder struct {
	opts   *memory.Options
	assets fs.FS
	// fresh says that the description begins with nothing.
	fresh bool
}

// parameters are kernel parameters that every Linux has, as it boots.
func parameters() map[string]string {
	return map[string]string{
		"fs.file-max": "9223372036854775807", "fs.inotify.max_user_instances": "128", "fs.inotify.max_user_watches": "65536",
		"kernel.keys.root_maxbytes": "25000000", "kernel.keys.root_maxkeys": "1000000", "kernel.panic": "0", "kernel.panic_on_oops": "0",
		"net.core.somaxconn": "4096", "net.ipv4.conf.all.forwarding": "0", "net.ipv4.conf.all.rp_filter": "0", "net.ipv4.ip_forward": "0",
		"net.ipv6.conf.all.forwarding": "0", "vm.max_map_count": "65530", "vm.overcommit_memory": "0", "vm.swappiness": "60",
	}
}

// clone is o with collections of its own.
func clone(o memory.Options) memory.Options {
	o.Executables, o.ReadOnly, o.Mounts = slices.Clone(o.Executables), slices.Clone(o.ReadOnly), slices.Clone(o.Mounts)
	o.Files, o.Units, o.Machines = maps.Clone(o.Files), slices.Clone(o.Units), slices.Clone(o.Machines)
	o.Scripts, o.Programs = maps.Clone(o.Scripts), maps.Clone(o.Programs)
	o.Kernel.Sysctl, o.Kernel.Modules, o.Kernel.Swaps = maps.Clone(o.Kernel.Sysctl), maps.Clone(o.Kernel.Modules), slices.Clone(o.Kernel.Swaps)
	o.Network.Listeners, o.Network.HTTP = slices.Clone(o.Network.Listeners), maps.Clone(o.Network.HTTP)
	return o
}

// grow makes maps that are not there yet.
func grow(o *memory.Options) {
	o.Files, o.Scripts, o.Programs = orNew(o.Files), orNew(o.Scripts), orNew(o.Programs)
	o.Kernel.Sysctl, o.Kernel.Modules, o.Network.HTTP = orNew(o.Kernel.Sysctl), orNew(o.Kernel.Modules), orNew(o.Network.HTTP)
}

func orNew[M ~map[K]V, K comparable, V any](m M) M {
	if m == nil {
		return M{}
	}
	return m
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func (b *builder) build(d *description) error {
	grow(b.opts)
	if b.fresh {
		b.opts.Kernel.Sysctl = parameters()
	}
	if d.Facts != nil {
		if err := b.recorded(*d.Facts); err != nil {
			return err
		}
	}
	o := b.opts
	set(&o.OSRelease, d.OSRelease)
	set(&o.Hostname, d.Hostname)
	set(&o.Kernel.Release, d.Kernel)
	set(&o.Systemd, d.Systemd)
	set(&o.Arch, d.Arch)
	set(&o.Kernel.Cgroup, d.Cgroup)
	set(&o.DiskBytes, d.DiskBytes)
	if d.Running != nil {
		o.Offline = !*d.Running
	}
	if d.Container != nil {
		o.NoSystemdContainer = !*d.Container
	}
	o.Executables = append(o.Executables, d.Executable...)
	o.ReadOnly = append(o.ReadOnly, d.ReadOnly...)
	o.Kernel.Swaps = append(o.Kernel.Swaps, d.Swaps...)
	maps.Copy(o.Kernel.Sysctl, d.Sysctl)
	maps.Copy(o.Kernel.Modules, d.Modules)
	return errors.Join(b.tree(d), b.system(d), b.network(d))
}

// tree is what lies on the disk.
func (b *builder) tree(d *description) error {
	var errs []error
	for _, name := range d.ReadOnly {
		errs = append(errs, named("read_only", block.CheckPath(name)))
	}
	for _, f := range d.Files {
		file, err := b.file(f)
		errs = append(errs, err)
		b.opts.Files[f.Path] = file
	}
	for _, f := range d.Directories {
		mode, err := parseMode(f.Mode)
		errs = append(errs, named("directory", err), named("directory", block.CheckPath(f.Path)))
		b.opts.Files[f.Path] = memory.File{Dir: true, Mode: mode, UID: f.UID, GID: f.GID}
	}
	for _, f := range d.Links {
		errs = append(errs, named("symlink", block.CheckPath(f.Path)))
		b.opts.Files[f.Path] = memory.File{Link: f.Target}
	}
	for _, m := range d.Mounts {
		errs = append(errs, named("mount", block.CheckPath(m.Point)))
		b.opts.Mounts = append(b.opts.Mounts, memory.Mount{Point: m.Point, Type: m.Type, Size: m.Bytes, ReadOnly: m.ReadOnly, NoExec: m.NoExec})
	}
	return errors.Join(errs...)
}

func named(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// system is what runs.
func (b *builder) system(d *description) error {
	var errs []error
	for _, u := range d.Units {
		unit, err := b.unit(u)
		errs = append(errs, err)
		b.opts.Units = append(b.opts.Units, unit)
	}
	for _, m := range d.Machines {
		machine, err := b.machine(m)
		errs = append(errs, err)
		b.opts.Machines = append(b.opts.Machines, machine)
	}
	for _, p := range d.Processes {
		script, err := p.script()
		errs = append(errs, err)
		b.opts.Scripts[p.Unit] = script
	}
	for _, p := range d.Programs {
		program, err := b.program(p)
		errs = append(errs, err)
		b.opts.Programs[p.Name] = program
	}
	return errors.Join(errs...)
}

// network is what listens and what can be fetched.
func (b *builder) network(d *description) error {
	for _, l := range d.Listeners {
		b.opts.Network.Listeners = append(b.opts.Network.Listeners, host.ListenerState{Address: l.Address, Exe: l.Executable, Root: l.Root})
	}
	var errs []error
	for _, u := range d.URLs {
		errs = append(errs, b.serve(u))
	}
	for _, i := range d.Images {
		errs = append(errs, b.image(i))
	}
	return errors.Join(errs...)
}
