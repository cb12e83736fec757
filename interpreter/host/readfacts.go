package host

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
)

// ReadFacts captures the facts of a host. On a host that is not running the
// live-only facts stay empty and the architecture is that of its own programs,
// "" if it has none; nothing is taken from the machine the program runs on.
func ReadFacts(ctx context.Context, v View) (Facts, error) {
	f := Facts{Live: v.Identity.Live, Root: v.Identity.Root}
	var err error
	if f.OS, err = ReadOSRelease(v.Files); err != nil {
		return Facts{}, err
	}
	if f.ImageManaged, err = imageManaged(ctx, v, f.OS); err != nil {
		return Facts{}, err
	}
	if !f.Live {
		f.Arch = programArch(v.Files)
		return f, nil
	}
	if f.Arch = v.Identity.Arch; f.Arch == "" {
		f.Arch = runtime.GOARCH
	}
	return f, readLive(ctx, v, &f)
}

// readLive asks the running host. A host without a service manager has no
// systemd version; what a shadow cannot know stays empty.
func readLive(ctx context.Context, v View, f *Facts) error {
	var err error
	if f.Kernel, err = v.Kernel.Release(ctx); known(err) != nil {
		return fmt.Errorf("reading the kernel release: %w", err)
	}
	if f.Hostname, err = v.Kernel.Sysctl(ctx, "kernel.hostname"); known(err) != nil {
		return fmt.Errorf("reading the host name: %w", err)
	}
	manager, err := v.Units.Manager(ctx)
	if known(err) != nil && !errors.Is(err, ErrNoManager) {
		return fmt.Errorf("reading the systemd version: %w", err)
	}
	f.Systemd = manager.Version
	return nil
}

// known is err without what only says that the answer is not known.
func known(err error) error {
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	return err
}

// declaration is an os-release that says of its host that it is image-managed.
// Fields that are "" match anything.
type declaration struct{ id, variantID, idLike string }

// imageManagedSystems are the systems that declare themselves image-managed:
// their software comes with the image or with system extensions, whatever
// package manager binaries lie in it. It is the one place that knows names.
//
// Flatcar is not in it: it is image-managed because its /usr is read-only, as
// any system that provably cannot install packages.
func imageManagedSystems() []declaration {
	return []declaration{
		{id: "azurelinux", variantID: "azurecontainerlinux"},
		{id: "azurelinux", idLike: "flatcar"},
		{id: "azurecontainerlinux"},
		{id: "fedora", variantID: "coreos"},
		{id: "rhcos"},
		{id: "rhel", variantID: "coreos"},
	}
}

func (d declaration) matches(os OSRelease) bool {
	return d.id == os.ID &&
		(d.variantID == "" || d.variantID == os.VariantID) &&
		(d.idLike == "" || slices.Contains(os.IDLike, d.idLike))
}

// packageManagers are programs with which a mutable host installs packages.
func packageManagers() []string {
	return []string{"apt-get", "tdnf", "dnf", "dnf5", "microdnf", "yum", "zypper", "pacman", "apk"}
}

// imageManaged says whether the host declares itself image-managed or provably
// cannot install packages: its /usr is on a read-only mount, or no package
// manager is there. That one is there proves nothing.
func imageManaged(ctx context.Context, v View, os OSRelease) (bool, error) {
	for _, d := range imageManagedSystems() {
		if d.matches(os) {
			return true, nil
		}
	}
	usr, err := v.Storage.Mount(ctx, "/usr")
	if known(err) != nil {
		return false, fmt.Errorf("looking at the mount of /usr: %w", err)
	}
	if err == nil && usr.ReadOnly {
		return true, nil
	}
	return !anyTool(v.Files, packageManagers()), nil
}

func anyTool(f FileView, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := LookTool(f, name)
		return err == nil
	})
}

// programArch is the architecture, in Go's words, of the first program found
// of those that every system has; "" if there is none that is known.
func programArch(f FileView) string {
	for _, name := range []string{
		"/usr/lib/systemd/systemd", "/lib/systemd/systemd", "/usr/bin/sh", "/bin/sh", "/usr/bin/env", "/sbin/init",
	} {
		if arch := elfArch(f, name); arch != "" {
			return arch
		}
	}
	return ""
}

// elfArch reads the start of an ELF file: the class at byte 4, the byte order
// at 5 and the machine at 18 (the ELF header in the System V ABI).
func elfArch(f FileView, name string) string {
	if info, err := f.Stat(name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	file, err := f.Open(name)
	if err != nil {
		return ""
	}
	header := make([]byte, 20)
	_, err = io.ReadFull(file, header)
	if errors.Join(err, file.Close()) != nil || string(header[:4]) != elf.ELFMAG {
		return ""
	}
	var order binary.ByteOrder = binary.LittleEndian
	if header[5] == byte(elf.ELFDATA2MSB) {
		order = binary.BigEndian
	}
	return goArch(elf.Machine(order.Uint16(header[18:])), elf.Class(header[4]), order)
}

func goArch(m elf.Machine, class elf.Class, order binary.ByteOrder) string {
	wide, little := class == elf.ELFCLASS64, order == binary.LittleEndian
	switch {
	case m == elf.EM_X86_64 && wide:
		return "amd64"
	case m == elf.EM_AARCH64 && wide:
		return "arm64"
	case m == elf.EM_386:
		return "386"
	case m == elf.EM_ARM && little:
		return "arm"
	case m == elf.EM_RISCV && wide:
		return "riscv64"
	case m == elf.EM_PPC64 && little:
		return "ppc64le"
	case m == elf.EM_S390:
		return "s390x"
	case m == elf.EM_LOONGARCH && wide:
		return "loong64"
	}
	return ""
}
