package linux

import (
	"io/fs"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SWAP_FLAG_PREFER and SWAP_FLAG_PRIO_MASK of <linux/swap.h>.
const (
	swapFlagPrefer   = 0x8000
	swapFlagPrioMask = 0x7fff
)

// swapFlags are the flags of swapon(2) for a priority, none for a negative one.
func swapFlags(priority int) uintptr {
	if priority < 0 {
		return 0
	}
	return swapFlagPrefer | uintptr(min(priority, swapFlagPrioMask))
}

// swapCall calls swapon(2) or swapoff(2), which x/sys does not wrap.
func swapCall(op string, number uintptr, area string, flags uintptr) error {
	name, err := unix.BytePtrFromString(area)
	if err == nil {
		if _, _, errno := unix.Syscall(number, uintptr(unsafe.Pointer(name)), flags, 0); errno != 0 {
			err = errno
		}
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: area, Err: err}
	}
	return nil
}
