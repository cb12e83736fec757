package linux

import (
	"io/fs"
	"unsafe"

	"golang.org/x/sys/unix"
)

// swapCall calls swapon(2) or swapoff(2), which x/sys does not wrap.
func swapCall(op string, number uintptr, area string) error {
	name, err := unix.BytePtrFromString(area)
	if err == nil {
		if _, _, errno := unix.Syscall(number, uintptr(unsafe.Pointer(name)), 0, 0); errno != 0 {
			err = errno
		}
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: area, Err: err}
	}
	return nil
}
