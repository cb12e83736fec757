package mount_test

import (
	"context"
	"strings"
	"testing"

	"hostler/builtins/blocks/mount"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

func on(o memory.Options) func(*testing.T) host.Host {
	return func(*testing.T) host.Host {
		h := memory.New(o).Host()
		h.Units = blocktest.Reloading(h.Units)
		return h
	}
}

const body = `
	what        = "bpf"
	where       = "/run/bpffs/kube-1"
	type        = "bpf"
	options     = ["mode=0700", "nosuid"]
	required_by = ["systemd-nspawn@kube-1.service"]
`

const unit = `/etc/systemd/system/run-bpffs-kube\x2d1.mount`

func TestContract(t *testing.T) {
	for name, c := range map[string]blocktest.Case{
		"new":                  {Host: on(memory.Options{})},
		"a directory is there": {Host: on(memory.Options{Files: map[string]memory.File{"/run/bpffs/kube-1": {Dir: true, Mode: 0o700}}})},
		"offline":              {Host: on(memory.Options{Offline: true})},
	} {
		c.Type, c.Body, c.Tolerated = mount.Type(), body, []string{"reset-failed"}
		c.Prepare = func(s *blocktest.Stage) { s.Host.Units = blocktest.Reloading(s.Host.Units) }
		c.Names = []string{"/run/bpffs/kube-1", `run-bpffs-kube\x2d1.mount`}
		t.Run(name, func(t *testing.T) { blocktest.Run(t, c) })
	}
}

func TestTheUnit(t *testing.T) {
	s := blocktest.NewStage(on(memory.Options{})(t))
	s.MustApply(t, blocktest.Step(t, mount.Type(), body))
	got, err := thing.ReadAll(s.Host.Files, unit)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[Unit]
Description=bpf on /run/bpffs/kube-1
Before=systemd-nspawn@kube-1.service

[Mount]
What=bpf
Where=/run/bpffs/kube-1
Type=bpf
Options=mode=0700,nosuid

[Install]
WantedBy=local-fs.target
RequiredBy=systemd-nspawn@kube-1.service
`
	if string(got) != want {
		t.Errorf("the unit is\n%s\nwant\n%s", got, want)
	}
	for _, link := range []string{"local-fs.target.wants", "systemd-nspawn@kube-1.service.requires"} {
		if _, err := host.Lstat(s.Host.Files, "/etc/systemd/system/"+link+`/run-bpffs-kube\x2d1.mount`); err != nil {
			t.Error(err)
		}
	}
	u, err := s.Host.Units.Unit(context.Background(), `run-bpffs-kube\x2d1.mount`)
	if err != nil || !u.Running() {
		t.Errorf("%+v, %v", u, err)
	}
}

func TestRemoteFileSystemsWaitForTheNetwork(t *testing.T) {
	for _, more := range []string{"type = \"nfs\"", "type = \"ext4\"\noptions = [\"_netdev\"]"} {
		s := blocktest.NewStage(on(memory.Options{})(t))
		s.MustApply(t, blocktest.Step(t, mount.Type(), "what = \"server:/x\"\nwhere = \"/mnt/x\"\n"+more))
		if _, err := host.Lstat(s.Host.Files, "/etc/systemd/system/remote-fs.target.wants/mnt-x.mount"); err != nil {
			t.Error(err)
		}
	}
}

// H32: after a reset nothing is mounted and the mount point is gone.
func TestH32TheMountPointGoesWithTheMount(t *testing.T) {
	s := blocktest.NewStage(on(memory.Options{})(t))
	step := blocktest.Step(t, mount.Type(), body)
	s.MustApply(t, step)
	s.MustReset(t, step)
	if _, err := host.Lstat(s.Host.Files, "/run/bpffs"); !host.Absent(err) {
		t.Errorf("it is left: %v", err)
	}
}

func TestWhatStandsInTheWay(t *testing.T) {
	for want, o := range map[string]memory.Options{
		"a file is there":                        {Files: map[string]memory.File{"/run/bpffs/kube-1": {Content: "x"}}},
		"other (tmpfs) is mounted there already": {Mounts: []memory.Mount{{Point: "/run/bpffs/kube-1", Source: "other"}}},
	} {
		_, err := blocktest.NewStage(on(o)(t)).Check(blocktest.Step(t, mount.Type(), body))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "/run/bpffs/kube-1") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestChangedOptionsChangeTheUnit(t *testing.T) {
	s := blocktest.NewStage(on(memory.Options{})(t))
	s.MustApply(t, blocktest.Step(t, mount.Type(), body))
	next := blocktest.Step(t, mount.Type(), strings.Replace(body, "nosuid", "noexec", 1))
	if change := s.MustCheck(t, next); change.Action != block.ActionUpdate || !change.Bytes {
		t.Errorf("%+v", change)
	}
	s.MustApply(t, next)
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		"what = \"a\"\nwhere = \"/\"\ntype = \"b\"":                                   "mounted already",
		"what = \"a\\nb\"\nwhere = \"/x\"\ntype = \"b\"":                              "one line",
		"what = \"a\"\nwhere = \"x\"\ntype = \"b\"":                                   "absolute path",
		"what = \"a\"\nwhere = \"/x\"\ntype = \" b\"":                                 "without blanks",
		"what = \"a\"\nwhere = \"/x\"\ntype = \"b\"\noptions = [\"ro,nosuid\"]":       "each as a string of its own",
		"what = \"a\"\nwhere = \"/x\"\ntype = \"b\"\nrequired_by = [\"kube1\"]":       "no unit type",
		"what = \"a\"\nwhere = \"/" + strings.Repeat("x/", 200) + "y\"\ntype = \"b\"": "255 is the most",
	} {
		if got := blocktest.Faults(mount.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
