package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// disk is where the host's writable files are: what its disk, if it has one,
// is mounted on.
func (h *Host) disk() string { return filepath.Join(h.dir, "disk") }

func (h *Host) image() string { return filepath.Join(h.dir, "disk.img") }

// format makes the host's empty disk.
func (h *Host) format() error {
	if h.options.Store == Overlay {
		return nil
	}
	size := h.options.DiskMiB
	if size == 0 {
		size = 3072
	}
	if err := os.WriteFile(h.image(), nil, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(h.image(), int64(size)<<20); err != nil {
		return err
	}
	if h.options.Store == DiskXFS {
		return command("mkfs.xfs", "-q", h.image())
	}
	return command("mkfs.ext4", "-q", "-E", "lazy_itable_init=1,lazy_journal_init=1", h.image())
}

// mountAll mounts the host's root as it is seen by the host.
func (h *Host) mountAll() error {
	if err := h.mountDisk(); err != nil {
		return err
	}
	upper, work := filepath.Join(h.disk(), "upper"), filepath.Join(h.disk(), "work")
	for _, dir := range []string{upper, work} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := mountOverlay(h.root, h.lower, upper, work); err != nil {
		return err
	}
	if err := h.mountUsr(); err != nil {
		return err
	}
	return h.mountVar()
}

// mountDisk mounts the disk. It checks that the disk was free: a loop device
// left over from before would bring back what a power cut took.
func (h *Host) mountDisk() error {
	if err := os.MkdirAll(h.disk(), 0o755); err != nil {
		return err
	}
	if h.options.Store == Overlay {
		return nil
	}
	if used, err := loopsOn(h.dir); err != nil || len(used) > 0 {
		return fmt.Errorf("the disk is still in use: %v %w", used, err)
	}
	options := "loop"
	if h.options.Store == DiskExt4 {
		options += ",commit=600"
	}
	return command("mount", "-o", options, h.image(), h.disk())
}

func (h *Host) mountUsr() error {
	if !h.options.has(ReadOnlyUsr) {
		return nil
	}
	image, err := h.run.usrImage(h.lower)
	if err != nil {
		return err
	}
	return command("mount", "-t", "erofs", "-o", "loop,ro", image, filepath.Join(h.root, "usr"))
}

// mountVar puts a plain directory of the disk on /var, at first with what the
// tree has there.
func (h *Host) mountVar() error {
	inDisk, inRoot := filepath.Join(h.disk(), "var"), filepath.Join(h.root, "var")
	if _, err := os.Stat(inDisk); err != nil {
		if err := command("cp", "-a", inRoot, inDisk); err != nil {
			return err
		}
	}
	if err := unix.Mount(inDisk, inRoot, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting /var: %w", err)
	}
	return nil
}

// furnish writes what a new host has of its own.
func (h *Host) furnish() error {
	id := "uninitialized"
	if !h.options.FirstBoot {
		out, err := exec.Command("systemd-id128", "new").Output()
		if err != nil {
			return err
		}
		id = string(out[:32])
	}
	own := map[string]string{"/etc/hostname": h.options.name() + "\n", "/etc/machine-id": id + "\n", "/etc/resolv.conf": ""}
	if h.options.FirstBoot { // its network is set up from outside; what would do that again waits for minutes
		own["/etc/systemd/system-preset/00-lab.preset"] = "disable systemd-networkd*\n"
	}
	_ = os.Remove(filepath.Join(h.root, "etc/resolv.conf")) // may be a link
	for path, content := range own {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(h.root, path)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(h.root, path), []byte(content), 0o644); err != nil {
			return err
		}
	}
	for path, content := range h.options.Files {
		if err := h.place(path, content); err != nil {
			return err
		}
	}
	return syncDisk(h.disk())
}

// place writes one of the files in Options.
func (h *Host) place(path, content string) error {
	mode := os.FileMode(0o644)
	if len(content) > 1 && content[:2] == "#!" {
		mode = 0o755
	}
	return h.write(path, []byte(content), mode)
}
