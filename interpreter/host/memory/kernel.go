package memory

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"hostler/interpreter/host"
)

// kernelState is the running kernel, which a boot forgets.
type kernelState struct {
	sysctl  map[string]string
	modules map[string]bool
	swaps   []host.SwapArea
}

// hostnameKey is the one key that every kernel has here, and that is a
// machine's own.
const hostnameKey = "kernel.hostname"

// kernelDoor is the kernel as the host, or a running machine, sees it.
type kernelDoor struct {
	m       *Memory
	machine string
}

var _ host.Kernel = kernelDoor{}

// live runs a call, if the host runs.
func (d kernelDoor) live(ctx context.Context, do func(*kernelState) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	if err := d.m.liveness(d.machine, "the kernel"); err != nil {
		return err
	}
	return do(&d.m.kernel)
}

// liveness is an *UnknownError when the host, or the machine, is at rest.
func (m *Memory) liveness(machine, what string) error {
	if m.opts.Offline {
		return host.Unknownf("%s can be asked only on a running host", what)
	}
	if mc := m.machines[machine]; machine != "" && (mc == nil || !mc.alive) {
		return host.Unknownf("%s can be asked only while machine %s runs", what, machine)
	}
	return nil
}

// Release is uname -r.
func (d kernelDoor) Release(ctx context.Context) (release string, err error) {
	err = d.live(ctx, func(*kernelState) error { release = d.m.opts.Kernel.Release; return nil })
	return release, err
}

// CgroupVersion is 1 or 2.
func (d kernelDoor) CgroupVersion(ctx context.Context) (version int, err error) {
	err = d.live(ctx, func(*kernelState) error { version = d.m.opts.Kernel.Cgroup; return nil })
	return version, err
}

// ModuleAvailable says whether there is such a module.
func (d kernelDoor) ModuleAvailable(ctx context.Context, name string) (ok bool, err error) {
	err = d.live(ctx, func(k *kernelState) error { _, ok = k.modules[moduleName(name)]; return nil })
	return ok, err
}

// ModuleLoaded says whether the module is loaded.
func (d kernelDoor) ModuleLoaded(ctx context.Context, name string) (ok bool, err error) {
	err = d.live(ctx, func(k *kernelState) error { ok = k.modules[moduleName(name)]; return nil })
	return ok, err
}

// moduleName is the kernel's spelling: dashes are underscores.
func moduleName(name string) string { return strings.ReplaceAll(name, "-", "_") }

// sysctlKey is the dotted form of a key; a slashed one may have dots in its
// parts.
func sysctlKey(key string) string {
	if i := strings.IndexAny(key, "./"); i >= 0 && key[i] == '/' {
		return strings.NewReplacer("/", ".", ".", "/").Replace(key)
	}
	return key
}

func noSysctl(key string) error {
	return &fs.PathError{Op: "open", Path: "/proc/sys/" + strings.NewReplacer(".", "/", "/", ".").Replace(sysctlKey(key)), Err: syscall.ENOENT}
}

// Sysctl returns a value in force.
func (d kernelDoor) Sysctl(ctx context.Context, key string) (value string, err error) {
	err = d.live(ctx, func(k *kernelState) error {
		v, ok := k.sysctl[sysctlKey(key)]
		if !ok {
			return noSysctl(key)
		}
		if value = v; d.machine != "" && sysctlKey(key) == hostnameKey {
			value = d.machine
		}
		return nil
	})
	return value, err
}

// SetSysctl sets a value until the next boot. Inside a machine /proc/sys is
// read-only.
func (d kernelDoor) SetSysctl(ctx context.Context, key, value string) error {
	d.m.count("kernel")
	return d.live(ctx, func(k *kernelState) error {
		if _, ok := k.sysctl[sysctlKey(key)]; !ok {
			return noSysctl(key)
		}
		if d.machine != "" {
			return fmt.Errorf("sysctl %s: %w", key, syscall.EROFS)
		}
		k.sysctl[sysctlKey(key)] = value
		return nil
	})
}

// LoadModule loads a module until the next boot.
func (d kernelDoor) LoadModule(ctx context.Context, name string) error {
	d.m.count("kernel")
	return d.live(ctx, func(k *kernelState) error {
		if _, ok := k.modules[moduleName(name)]; !ok {
			return fmt.Errorf("kernel module %s: %w", name, fs.ErrNotExist)
		}
		k.modules[moduleName(name)] = true
		return nil
	})
}

// Swaps lists the active swap areas.
func (d kernelDoor) Swaps(ctx context.Context) (list []host.SwapArea, err error) {
	err = d.live(ctx, func(k *kernelState) error { list = slices.Clone(k.swaps); return nil })
	return list, err
}

// SwapOff stops swapping on an area.
func (d kernelDoor) SwapOff(ctx context.Context, area string) error {
	d.m.count("kernel")
	return d.live(ctx, func(k *kernelState) error {
		if !slices.Contains(host.SwapNames(k.swaps), area) {
			return fmt.Errorf("swapoff %s: %w", area, syscall.EINVAL)
		}
		k.swaps = slices.DeleteFunc(slices.Clone(k.swaps), func(s host.SwapArea) bool { return s.Name == area })
		return nil
	})
}

// SwapOn starts swapping on an area.
func (d kernelDoor) SwapOn(ctx context.Context, area host.SwapArea) error {
	d.m.count("kernel")
	return d.live(ctx, func(k *kernelState) error {
		if slices.Contains(host.SwapNames(k.swaps), area.Name) {
			return fmt.Errorf("swapon %s: %w", area.Name, syscall.EBUSY)
		}
		k.swaps = append(slices.Clone(k.swaps), area)
		return nil
	})
}

// Unmount unmounts what is mounted at a path.
func (d kernelDoor) Unmount(ctx context.Context, name string) error {
	d.m.count("kernel")
	return d.live(ctx, func(*kernelState) error {
		t := d.m.tree
		t.mu.Lock()
		defer t.mu.Unlock()
		at, err := t.find(t.root(), path.Join(d.m.rootOf(d.machine), name), true)
		if err == nil {
			err = t.unmount(at)
		}
		if err != nil {
			return &fs.PathError{Op: "umount", Path: name, Err: err}
		}
		return nil
	})
}

func (m *Memory) rootOf(machine string) string {
	if machine == "" {
		return "/"
	}
	return host.MachineRoot(machine)
}
