package linux

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hostler/interpreter/host"
)

func fixture(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestMountinfo(t *testing.T) {
	all := parseMounts(fixture(t, "mountinfo"))
	var states []host.MountState
	for _, m := range all {
		states = append(states, m.state())
	}
	want := []host.MountState{
		{Point: "/", Source: "/dev/root", Type: "ext4"},
		{Point: "/proc", Source: "proc", Type: "proc", NoExec: true},
		{Point: "/usr", Source: "/dev/dm-0", Type: "erofs", ReadOnly: true},
		{Point: "/mnt/a b", Source: `/dev/disk\x`, Type: "ext4", NoExec: true},
		{Point: "/mnt/a b", Source: "tmp\tfs", Type: "tmpfs"},
		{Point: "/mnt/quiet", Source: "systemd-1", Type: "autofs"},
	}
	if !slices.Equal(states, want) {
		t.Errorf("the mounts are\n%+v, want\n%+v", states, want)
	}
	if all[3].root != "/sub dir" || all[3].device != "254:1" || all[3].id != 31 {
		t.Errorf("the bind mount is %+v", all[3])
	}
}

func TestHoldingMount(t *testing.T) {
	all := parseMounts(fixture(t, "mountinfo"))
	for _, c := range []struct {
		id   uint64
		name string
		want uint64
	}{
		{30, "/anything", 30},
		{0, "/usr/bin/env", 30},
		{0, "/usr", 30},
		{0, "/usrlocal", 24},
		{0, "/mnt/a b/file", 32}, // mounted over the other
		{99, "/proc/self", 25},   // an id of another namespace
		{0, "/", 24},
	} {
		if m, ok := holding(all, c.id, c.name); !ok || m.id != c.want {
			t.Errorf("mount %d or %s: %d, want %d", c.id, c.name, m.id, c.want)
		}
	}
	if _, ok := holding(nil, 1, "/"); ok {
		t.Error("without mounts something is mounted")
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain": "plain", `a\040b`: "a b", `\134`: `\`, `end\`: `end\`, `\04`: `\04`, `\999`: `\999`, `\777`: `\777`, `\\040`: `\ `,
	} {
		if got := unescape(in); got != want {
			t.Errorf("unescape(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSwapAreas(t *testing.T) {
	text := "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n" +
		"/dev/zram0                              partition\t8388604\t\t0\t\t100\n" +
		"/swap\\040file\\040(deleted)            file\t\t1048572\t\t0\t\t-2\n"
	if got, want := swapAreas(text), []host.SwapArea{{Name: "/dev/zram0", Priority: 100}, {Name: "/swap file (deleted)", Priority: -2}}; !slices.Equal(got, want) {
		t.Errorf("the areas are %v, want %v", got, want)
	}
	if got := swapAreas("Filename Type\n"); got != nil {
		t.Errorf("without areas there are %v", got)
	}
}

func TestListeningSockets(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Fatal("the fixtures are of a little-endian machine")
	}
	for file, want := range map[string][]socket{
		"tcp":  {{"127.0.0.1:8080", "30211"}, {"0.0.0.0:10258", "30212"}},
		"tcp6": {{"[::]:10250", "30311"}, {"[::1]:80", "30312"}, {"[2001:db8::ff00:1]:443", "30313"}},
	} {
		if got := listening(fixture(t, file)); !slices.Equal(got, want) {
			t.Errorf("%s: listening are %+v, want %+v", file, got, want)
		}
	}
}

func TestUnitOfCgroup(t *testing.T) {
	for text, want := range map[string]string{
		"0::/system.slice/hostler.service\n":                                         "hostler.service",
		"0::/system.slice/hostler.service/deeper/leaf\n":                             "hostler.service",
		"0::/system.slice/system-hostler.slice/hostler@a.service\n":                  "hostler@a.service",
		"12:cpu:/\n1:name=systemd:/system.slice/old.service\n0::/\n":                 "old.service",
		"1:name=systemd:/\n0::/system.slice/x.service\n":                             "",
		"0::/user.slice/user-0.slice/session-3.scope\n":                              "",
		"0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.service\n": "",
		"0::/init.scope\n":              "",
		"0::/\n":                        "",
		"0::/../..\n":                   "",
		"0::/docker/0123456789abcdef\n": "",
		"0::/machine.slice/machine-kube1.scope/payload\n": "",
		"0::/system.slice/_cpu.service\n":                 "cpu.service",
		"":                                                "",
		"nonsense\n0:x\n":                                 "",
	} {
		if got := unitOfCgroup(text); got != want {
			t.Errorf("%q: unit %q, want %q", text, got, want)
		}
	}
}

func TestOwnUnit(t *testing.T) {
	if unit := OwnUnit(); unit != "" && !booted() {
		t.Errorf("without systemd this process is in the unit %q", unit)
	}
}

func TestHasEnded(t *testing.T) {
	for stat, want := range map[string]bool{
		"17 (sleep) S 1 17 17 0": false, "17 (a) Z b) R 1 17": false, "17 (x) Z 1 17": true, "17 (x) X 1": true, "": true, "17 (x)": true,
		"17 (systemd) D 1 17 17 0 -1 4194628 3 0": true, "17 (systemd) S 1 17 17 0 -1 4194560 3 0": false, "17 (systemd) S 1 17 17 0 -1": false,
	} {
		if got := hasEnded(stat); got != want {
			t.Errorf("%q: ended %v, want %v", stat, got, want)
		}
	}
}

func TestVersionNumber(t *testing.T) {
	for text, want := range map[string]int{`"252.39-1~deb12u2"`: 252, `"257"`: 257, `"v255.4"`: 255, "249": 249, `"UNKNOWN"`: 0, "": 0} {
		if got := versionNumber(text); got != want {
			t.Errorf("version %s is %d, want %d", text, got, want)
		}
	}
}

func TestLastLines(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "\n": nil, "a\n": {"a"}, "a\nb\nc\n": {"b", "c"}, "a\n\nc": {"", "c"},
	} {
		if got := lastLines(text, 2); !slices.Equal(got, want) {
			t.Errorf("the last two lines of %q are %q", text, got)
		}
	}
}
