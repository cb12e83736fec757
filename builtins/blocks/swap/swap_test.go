package swap_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"hostler/builtins/blocks/swap"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

type files = map[string]memory.File

// fstab has what H44 lists: swap lines with tabs, comments, a commented one,
// and lines that only hold the word.
const fstab = "# swap was on /dev/sda2 during installation\n" +
	"UUID=1\t/\text4\terrors=remount-ro\t0\t1\n" +
	"UUID=2\tnone\tswap\tsw\t0\t0\n" +
	"#UUID=3 none swap sw 0 0\n" +
	"/dev/sdb1 /var/swap ext4 defaults 0 2\n" +
	"  /swapfile   none   swap   sw   0   0\n" +
	"\n/dev/sdc1 none swap"

const without = "# swap was on /dev/sda2 during installation\n" +
	"UUID=1\t/\text4\terrors=remount-ro\t0\t1\n" +
	"# UUID=2\tnone\tswap\tsw\t0\t0\n" +
	"#UUID=3 none swap sw 0 0\n" +
	"/dev/sdb1 /var/swap ext4 defaults 0 2\n" +
	"#   /swapfile   none   swap   sw   0   0\n" +
	"\n# /dev/sdc1 none swap"

func on(o memory.Options) func(*testing.T) host.Host {
	return func(*testing.T) host.Host { return memory.New(o).Host() }
}

func full() memory.Options {
	return memory.Options{
		Files: files{
			"/etc/fstab":                                        {Content: fstab},
			"/run/systemd/generator/dev-sdd1.swap":              {Content: "[Swap]\nWhat=/dev/sdd1\n"},
			`/run/systemd/generator/dev-disk-by\x2duuid-2.swap`: {Link: "dev-sda2.swap"},
		},
		Kernel: memory.Kernel{Swaps: []string{"/dev/sda2", "/swapfile"}},
	}
}

func TestContract(t *testing.T) {
	offline := full()
	offline.Offline, offline.Kernel.Swaps = true, nil
	for name, c := range map[string]blocktest.Case{
		"all of it": {Host: on(full())},
		"offline":   {Host: on(offline)},
		"no swap":   {Host: on(memory.Options{}), Quiet: true},
	} {
		c.Type = swap.Type()
		t.Run(name, func(t *testing.T) { blocktest.Run(t, c) })
	}
}

func read(t *testing.T, h host.Host, name string) string {
	t.Helper()
	b, err := thing.ReadAll(h.Files, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func swaps(t *testing.T, h host.Host) []string {
	t.Helper()
	areas, err := h.Kernel.Swaps(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	names := host.SwapNames(areas)
	slices.Sort(names)
	return names
}

// H44: lines are commented once, the original comes back byte for byte, and a
// second run changes nothing.
func TestH44FstabIsCommentedOnceAndComesBack(t *testing.T) {
	s := blocktest.NewStage(on(full())(t))
	step := blocktest.Step(t, swap.Type(), "")
	s.MustApply(t, step)
	if got := read(t, s.Host, "/etc/fstab"); got != without {
		t.Errorf("fstab is\n%s\nwant\n%s", got, without)
	}
	before := blocktest.Snapshot(t, s.Host.Files, "/")
	s.MustApply(t, step)
	if diff := blocktest.Snapshot(t, s.Host.Files, "/").Untouched(before); diff != "" {
		t.Errorf("a second run changes:\n%s", diff)
	}
	s.MustReset(t, step)
	if got := read(t, s.Host, "/etc/fstab"); got != fstab {
		t.Errorf("after reset fstab is\n%s", got)
	}
	if got := swaps(t, s.Host); !slices.Equal(got, []string{"/dev/sda2", "/swapfile"}) {
		t.Errorf("after reset %v are active", got)
	}
}

func TestUnitsAreMasked(t *testing.T) {
	s := blocktest.NewStage(on(full())(t))
	s.MustApply(t, blocktest.Step(t, swap.Type(), ""))
	if got := swaps(t, s.Host); len(got) > 0 {
		t.Errorf("%v are still active", got)
	}
	names, err := host.Names(s.Host.Files, "/etc/systemd/system")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	var masks []string
	for _, n := range names {
		if strings.HasSuffix(n, ".swap") {
			masks = append(masks, n)
		}
	}
	if !slices.Equal(masks, []string{"dev-sda2.swap", "dev-sdd1.swap", "swapfile.swap"}) {
		t.Errorf("masked are %v", masks)
	}
}

// What would make a zram device at the next boot is masked before it has made
// one.
func TestIdleZramIsMasked(t *testing.T) {
	s := blocktest.NewStage(memory.New(memory.Options{Units: []memory.Unit{{Name: "dev-zram1.swap", Content: "[Swap]\nWhat=/dev/zram1\n"}}}).Host())
	step := blocktest.Step(t, swap.Type(), "")
	s.MustApply(t, step)
	for _, unit := range []string{"dev-zram1.swap", "systemd-zram-setup@zram1.service"} {
		if target, err := s.Host.Files.ReadlinkIfPossible("/etc/systemd/system/" + unit); err != nil || target != "/dev/null" {
			t.Errorf("%s leads to %q, %v", unit, target, err)
		}
	}
}

func TestNothingSwapsAfterABoot(t *testing.T) {
	m := memory.New(full())
	blocktest.NewStage(m.Host()).MustApply(t, blocktest.Step(t, swap.Type(), ""))
	m.Reboot()
	if got := swaps(t, m.Host()); len(got) > 0 {
		t.Errorf("%v are active", got)
	}
}

// A zram device is taken down with what set it up, and comes back by its unit.
func TestZram(t *testing.T) {
	m := memory.New(memory.Options{
		Kernel: memory.Kernel{Swaps: []string{"/dev/zram0"}},
		Units: []memory.Unit{
			{Name: "systemd-zram-setup@.service", Content: "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/usr/bin/true\n"},
			{Name: "dev-zram0.swap", Content: "[Swap]\nWhat=/dev/zram0\n"},
		},
	})
	s := blocktest.NewStage(m.Host())
	if err := s.Host.Units.Run(context.Background(), host.JobStart, "systemd-zram-setup@zram0.service"); err != nil {
		t.Fatal(err)
	}
	step := blocktest.Step(t, swap.Type(), "")
	s.MustApply(t, step)
	u, err := s.Host.Units.Unit(context.Background(), "systemd-zram-setup@zram0.service")
	if err != nil || u.Running() || u.LoadState != "masked" {
		t.Errorf("the setup unit is %s, %s (%v)", u.LoadState, u.ActiveState, err)
	}
	if _, err := host.Lstat(s.Host.Files, "/etc/systemd/system/dev-zram0.swap"); err != nil {
		t.Error(err)
	}
	s.MustReset(t, step)
	for _, unit := range []string{"dev-zram0.swap", "systemd-zram-setup@zram0.service"} {
		if u, err = s.Host.Units.Unit(context.Background(), unit); err != nil || u.LoadState != "loaded" {
			t.Errorf("after reset %s is %s (%v)", unit, u.LoadState, err)
		}
	}
	if u, err = s.Host.Units.Unit(context.Background(), "dev-zram0.swap"); err != nil || !u.Running() {
		t.Errorf("after reset the swap unit is %s (%v)", u.ActiveState, err)
	}
}

func TestMasksOfOthersStay(t *testing.T) {
	o := full()
	o.Files["/etc/systemd/system/dev-sda2.swap"] = memory.File{Link: "/dev/null"}
	s := blocktest.NewStage(on(o)(t))
	step := blocktest.Step(t, swap.Type(), "")
	s.MustApply(t, step)
	s.MustReset(t, step)
	if target, err := s.Host.Files.ReadlinkIfPossible("/etc/systemd/system/dev-sda2.swap"); err != nil || target != "/dev/null" {
		t.Errorf("%s, %v", target, err)
	}
	if _, err := host.Lstat(s.Host.Files, "/etc/systemd/system/swapfile.swap"); !host.Absent(err) {
		t.Errorf("our mask is left: %v", err)
	}
}

func TestAUnitFileInTheWay(t *testing.T) {
	o := full()
	o.Files["/etc/systemd/system/extra.swap"] = memory.File{Content: "[Swap]\nWhat=/extra\n"}
	_, err := blocktest.NewStage(on(o)(t)).Check(blocktest.Step(t, swap.Type(), ""))
	if err == nil || !strings.Contains(err.Error(), "/etc/systemd/system/extra.swap: a file is in the place of the mask") {
		t.Error(err)
	}
}

func TestOffline(t *testing.T) {
	o := full()
	o.Offline = true
	s := blocktest.NewStage(on(o)(t))
	step := blocktest.Step(t, swap.Type(), "")
	s.MustApply(t, step)
	if change := s.MustCheck(t, step); change.Action != block.ActionNone || len(change.Deferred) != 1 {
		t.Errorf("%+v", change)
	}
	if got := read(t, s.Host, "/etc/fstab"); got != without {
		t.Errorf("fstab is\n%s", got)
	}
}
