package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/offline"
	"hostler/interpreter/host/treefs"
	"hostler/interpreter/rootfs"
)

// unpackVerb is how this program calls itself to unpack one image, and
// syncWord what it prints before the nanoseconds that syncfs took.
const (
	unpackVerb = "unpack"
	syncWord   = "sync "
)

// unpack does what the interpreter does for a machine.
func unpack(args []string) (err error) {
	if len(args) != 2 {
		return errors.New("unpack REFERENCE DIRECTORY")
	}
	if name := os.Getenv("HOSTLER_BENCH_PROFILE"); name != "" {
		stop, err := profile(name)
		if err != nil {
			return err
		}
		defer stop()
	}
	files, err := treefs.Open("/", treefs.Options{})
	if err != nil {
		return err
	}
	h, err := offline.Open(args[1])
	if err != nil {
		return err
	}
	timed := &timedSync{FS: h.Files.(*treefs.FS)}
	h.Files = timed
	if err := host.MakeParents(h.Files, host.MachineRoot("m"), 0o755); err != nil {
		return err
	}
	ctx := context.Background()
	platform := rootfs.Platform{OS: "linux", Architecture: runtime.GOARCH}
	image, err := rootfs.Resolve(ctx, rootfs.Source{Image: args[0], Files: files}, platform)
	if err != nil {
		return err
	}
	if _, err := rootfs.Unpack(ctx, image, h, host.MachineRoot("m"), rootfs.Options{}); err != nil {
		return err
	}
	fmt.Printf("%s%d\n", syncWord, timed.took)
	return nil
}

func profile(name string) (stop func(), err error) {
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return pprof.StopCPUProfile, pprof.StartCPUProfile(file)
}

// timedSync notes how long making the tree durable takes.
type timedSync struct {
	*treefs.FS
	took time.Duration
}

// SyncTree makes everything durable.
func (t *timedSync) SyncTree(name string) error {
	start := time.Now()
	err := t.FS.SyncTree(name)
	t.took += time.Since(start)
	return err
}
