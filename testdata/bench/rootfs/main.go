// Command rootfs measures how fast and with how much memory images are
// unpacked, by this program and by the tools that people use otherwise: tar
// with gzip, pigz and zstd, umoci, skopeo with tar, machinectl
// import-tar, and tar of the uncompressed archive as the floor. Everything is measured in one run on one
// machine; every single unpacking has a file system of its own, made for it,
// on a loop device over memory. The contenders take turns, so that what else
// the machine does falls on all of them, and medians are compared.
//
//	make bench-rootfs
//
// It needs root and the Debian packages that testdata/lab/prepare installs.
// Images are made once and kept in /var/cache/hostler-lab/bench.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == unpackVerb {
		exit(unpack(os.Args[2:]))
	}
	o := options{}
	flag.IntVar(&o.rounds, "rounds", 5, "how often each contender unpacks each image")
	flag.StringVar(&o.images, "images", "", "only images whose name contains this")
	flag.StringVar(&o.contenders, "contenders", "", "only contenders whose name contains this")
	flag.StringVar(&o.cache, "cache", cacheDir(), "where images are kept")
	flag.BoolVar(&o.growth, "growth", true, "measure growth at four sizes, too")
	flag.Parse()
	if os.Geteuid() == 0 && os.Getenv(apart) == "" {
		exit(runApart())
	}
	exit(run(o))
}

// apart is set in a process that has its mounts for itself.
const apart = "HOSTLER_BENCH_APART"

// runApart runs this program again with mounts of its own: nothing else can
// hold on to them, and they go with it, however it ends.
func runApart() error {
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	argv := append([]string{"unshare", "--mount", "--propagation", "slave", self}, os.Args[1:]...)
	return syscall.Exec(unshare, argv, append(os.Environ(), apart+"=1"))
}

type options struct {
	rounds             int
	images, contenders string
	cache              string
	growth             bool
}

func cacheDir() string {
	lab := os.Getenv("HOSTLER_LAB_CACHE")
	if lab == "" {
		lab = "/var/cache/hostler-lab"
	}
	return filepath.Join(lab, "bench")
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-rootfs:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(o options) error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("needs root: it mounts file systems")
	}
	images, sizes, err := makeImages(o.cache)
	if err != nil {
		return err
	}
	g, err := newGround()
	if err != nil {
		return err
	}
	defer g.close()
	for _, img := range images {
		if !strings.Contains(img.name, o.images) {
			continue
		}
		if err := compare(g, img, o); err != nil {
			return err
		}
	}
	if o.growth {
		return growth(g, sizes, o)
	}
	return nil
}

// compare measures all contenders on an image and prints a table.
func compare(g *ground, img image, o options) error {
	var all []contender
	for _, c := range contenders() {
		if strings.Contains(c.name, o.contenders) && c.script(img, "x") != "" {
			all = append(all, c)
		}
	}
	runs := map[string][]sample{}
	for range o.rounds {
		for _, c := range all {
			s, err := g.measure(c, img)
			if err != nil {
				return fmt.Errorf("%s of %s: %w", c.name, img.name, err)
			}
			runs[c.name] = append(runs[c.name], s)
		}
	}
	printTable(os.Stdout, img, all, runs)
	return nil
}

// growth measures this program on images of one kind in four sizes.
func growth(g *ground, sizes []image, o options) error {
	var all []sample
	for _, img := range sizes {
		var runs []sample
		for range o.rounds {
			s, err := g.measure(ours(), img)
			if err != nil {
				return fmt.Errorf("%s: %w", img.name, err)
			}
			runs = append(runs, s)
		}
		all = append(all, median(runs))
	}
	printGrowth(os.Stdout, sizes, all)
	return nil
}
