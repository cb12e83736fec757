package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ground makes file systems to unpack to.
type ground struct {
	dir   string // a tmpfs
	disk  string
	mount string
}

// diskSize is that of each file system, and memory what all may take.
const (
	diskSize = "3G"
	memory   = "4G"
)

func newGround() (*ground, error) {
	dir, err := os.MkdirTemp("", "hostler-bench")
	if err != nil {
		return nil, err
	}
	g := &ground{dir: dir, disk: filepath.Join(dir, "disk"), mount: filepath.Join(dir, "mnt")}
	if err := command("mount", "-t", "tmpfs", "-o", "size="+memory, "hostler-bench", dir); err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	return g, os.Mkdir(g.mount, 0o755)
}

// close waits a little, because loop devices are given back in the background.
func (g *ground) close() {
	err := command("umount", g.dir)
	for i := 0; err != nil && i < 50; i++ {
		time.Sleep(100 * time.Millisecond)
		err = command("umount", g.dir)
	}
	if err = errors.Join(err, os.Remove(g.dir)); err != nil {
		fmt.Fprintln(os.Stderr, "bench-rootfs:", err)
	}
}

// fresh mounts a new file system. Everything in it is ready before it is used:
// nothing is made in the background.
func (g *ground) fresh() error {
	if err := command("truncate", "-s", diskSize, g.disk); err != nil {
		return err
	}
	if err := command("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", g.disk); err != nil {
		return err
	}
	return command("mount", "-o", "loop", g.disk, g.mount)
}

func (g *ground) drop() error {
	return errors.Join(command("umount", g.mount), os.Remove(g.disk))
}

// sample is one unpacking.
type sample struct {
	wall time.Duration // until the command ended; ours without its sync
	disk time.Duration // until everything is durable, too
	cpu  time.Duration // of all processes
	peak int64         // bytes of memory of the largest process
}

// measure unpacks an image once.
func (g *ground) measure(c contender, img image) (s sample, err error) {
	if err := g.fresh(); err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, g.drop()) }()
	var out bytes.Buffer
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", c.script(img, g.mount))
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return s, err
	}
	s.wall = time.Since(start)
	if err := command("sync", "-f", g.mount); err != nil {
		return s, err
	}
	s.disk = time.Since(start)
	s.wall -= syncTime(out.String())
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	s.peak = usage.Maxrss << 10
	return s, nil
}

// syncTime is how much of a run was spent in making it durable, as the command
// says itself.
func syncTime(out string) time.Duration {
	_, rest, ok := strings.Cut(out, syncWord)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n)
}

func command(argv ...string) error {
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, out)
	}
	return nil
}
