package lab

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Push writes a file in the host, on or off, and makes the directories above
// it. The file appears whole; it is not synced.
func (h *Host) Push(path string, content []byte, mode os.FileMode) {
	h.t.Helper()
	if err := h.write(path, content, mode); err != nil {
		h.t.Fatalf("lab: writing %s in %s: %v", path, h.id, err)
	}
}

// PushFile is Push of a file of the machine the lab runs on.
func (h *Host) PushFile(path, source string, mode os.FileMode) {
	h.t.Helper()
	content, err := os.ReadFile(source)
	if err != nil {
		h.t.Fatalf("lab: %v", err)
	}
	h.Push(path, content, mode)
}

// PushTree copies what a directory of the machine the lab runs on holds to a
// directory in the host, with modes, owners and links.
func (h *Host) PushTree(dir, source string) {
	h.t.Helper()
	packed, err := exec.Command("tar", "-C", source, "--numeric-owner", "-cf", "-", ".").Output()
	if err == nil {
		err = h.unpack(dir, bytes.NewReader(packed))
	}
	if err != nil {
		h.t.Fatalf("lab: copying %s to %s in %s: %v", source, dir, h.id, err)
	}
}

// Pull reads a file in the host, on or off.
func (h *Host) Pull(path string) []byte {
	h.t.Helper()
	out, err := h.do(nil, "cat", "--", path)
	if err != nil {
		h.t.Fatalf("lab: reading %s in %s: %v", path, h.id, err)
	}
	return out
}

// PullTree copies what a directory in the host holds to a directory of the
// machine the lab runs on.
func (h *Host) PullTree(dir, target string) {
	h.t.Helper()
	packed, err := h.do(nil, "tar", "-C", dir, "-cf", "-", ".")
	if err == nil {
		cmd := exec.Command("tar", "-C", target, "--numeric-owner", "-xpf", "-")
		_, err = succeed(cmd, bytes.NewReader(packed))
	}
	if err != nil {
		h.t.Fatalf("lab: copying %s from %s: %v", dir, h.id, err)
	}
}

// Machine unpacks the lab's guest, a small Debian that boots, as the machine
// /var/lib/machines/NAME of the host.
func (h *Host) Machine(name string) {
	h.t.Helper()
	packed, err := os.Open(h.run.guestTar())
	if err != nil {
		h.t.Fatalf("lab: %v", err)
	}
	defer packed.Close()
	if err := h.unpack(filepath.Join("/var/lib/machines", name), packed); err != nil {
		h.t.Fatalf("lab: unpacking the guest in %s: %v", h.id, err)
	}
}

// guestTar is the guest's tree in a tar.
func (r *run) guestTar() string { return filepath.Join(r.trees["guest"], "tree.tar") }

func (h *Host) unpack(dir string, packed io.Reader) error {
	const unpack = `mkdir -p "$1" && tar -C "$1" --numeric-owner -xpf -`
	_, err := h.do(packed, "sh", "-c", unpack, "sh", dir)
	return err
}

func (h *Host) write(path string, content []byte, mode os.FileMode) error {
	const write = `mkdir -p "$(dirname "$1")" && rm -f "$1.lab" && cat >"$1.lab" && chmod "$2" "$1.lab" && mv -f "$1.lab" "$1"`
	_, err := h.do(bytes.NewReader(content), "sh", "-c", write, "sh", path, octal(mode))
	return err
}

// do runs a command on the host's files, where it resolves links: in the
// host when that runs, else chrooted in its tree.
func (h *Host) do(stdin io.Reader, argv ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), execLimit)
	defer cancel()
	if l := h.alive(); l != nil {
		return succeed(inside(ctx, l.leader, argv...), stdin)
	}
	return succeed(plainly(exec.CommandContext(ctx, "chroot", append([]string{h.root}, argv...)...)), stdin)
}

// succeed runs a command that must succeed and returns its output.
func succeed(cmd *exec.Cmd, stdin io.Reader) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(errs.Bytes()))
	}
	return out.Bytes(), nil
}
