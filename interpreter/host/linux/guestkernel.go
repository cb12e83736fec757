package linux

import (
	"context"
	"errors"
	"fmt"

	"hostler/interpreter/host"
)

// guestKernel is the host's kernel as a machine sees it: parameters and mounts
// are the machine's, modules can be looked at, and what would change the kernel
// for all is refused.
type guestKernel struct {
	host.Kernel
	in *inside
}

var _ host.Kernel = guestKernel{}

// CgroupVersion looks at what the machine has mounted.
func (k guestKernel) CgroupVersion(context.Context) (int, error) { return cgroupVersion(k.in.files) }

// Sysctl reads in the machine's namespaces: its host name and its network are
// its own.
func (k guestKernel) Sysctl(_ context.Context, key string) (value string, err error) {
	err = k.in.within([]string{"net", "uts", "ipc"}, func() error {
		value, err = sysctl(k.in.files, key)
		return err
	})
	return value, err
}

// SetSysctl writes to the machine's /proc/sys, which is read-only but for what
// is its own.
func (k guestKernel) SetSysctl(_ context.Context, key, value string) error {
	return k.in.within([]string{"net", "uts", "ipc"}, func() error { return setSysctl(k.in.files, key, value) })
}

// Unmount unmounts in the machine's tree of mounts.
func (k guestKernel) Unmount(_ context.Context, path string) error {
	return k.in.within([]string{"mnt"}, func() error { return unmount(path) })
}

// LoadModule is refused.
func (k guestKernel) LoadModule(_ context.Context, name string) error {
	return k.shared("loading the kernel module " + name)
}

// SwapOff is refused.
func (k guestKernel) SwapOff(_ context.Context, area string) error {
	return k.shared("swapoff of " + area)
}

// SwapOn is refused.
func (k guestKernel) SwapOn(_ context.Context, area host.SwapArea) error {
	return k.shared("swapon of " + area.Name)
}

func (k guestKernel) shared(what string) error {
	return fmt.Errorf("%s in machine %s would change the host's kernel; do it on the host: %w", what, k.in.name, errors.ErrUnsupported)
}
