package nspawnmachine_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	nspawnmachine "hostler/builtins/blocks/nspawn_machine"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/rootfs"
	"hostler/interpreter/thing"
)

// archive is a tar of files, name and content in turns; a name with "->" is a
// link.
func archive(files ...string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		h := &tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1])), Typeflag: tar.TypeReg}
		if name, target, ok := strings.Cut(files[i], "->"); ok {
			h.Name, h.Linkname, h.Typeflag = name, target, tar.TypeSymlink
		}
		if strings.HasSuffix(h.Name, "/") {
			h.Typeflag, h.Mode = tar.TypeDir, 0o755
			if _, err := fmt.Sscanf(files[i+1], "%d", &h.Uid); err == nil {
				h.Size = 0
			}
		}
		if strings.HasPrefix(h.Name, "usr/bin/") {
			h.Mode = 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			panic(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte(files[i+1])); err != nil {
				panic(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// images are what the host of the tests has in /srv.
func images() map[string]memory.File {
	return map[string]memory.File{
		"/srv/one.tar":     {Content: archive("./etc/os-release", "ID=one\n", "usr/bin/true", "x", "usr/bin/false", "x")},
		"/srv/two.tar":     {Content: archive("etc/os-release", "ID=two\n")},
		"/srv/linked.tar":  {Content: archive("etc/os-release->/usr/lib/os-release", "", "usr/lib/os-release", "ID=x\n")},
		"/srv/none.tar":    {Content: archive("etc/passwd", "")},
		"/srv/escape.tar":  {Content: archive("etc/os-release->../../../../../etc/os-release", "")},
		"/srv/shifted.tar": {Content: archive("./", "500000", "etc/os-release", "ID=x\n")},
		"/srv/broken.tar":  {Content: archive("etc/os-release", "ID=x\n", "../evil", "x")},
	}
}

func memoryHost(change func(*memory.Options)) *memory.Memory {
	o := memory.Options{Files: images()}
	o.Files["/dev/kvm"] = memory.File{Content: ""}
	if change != nil {
		change(&o)
	}
	return memory.New(o)
}

func body(image, more string) string {
	return "name = \"kube1\"\nrootfs {\n image = \"" + image + "\"\n platform = \"linux/amd64\"\n}\n" + more
}

const settings = `
	settings {
		exec           = { Capability = "all", PrivateUsers = "no" }
		files          = { BindReadOnly = ["/lib/modules", "/srv"], Bind = "/run/x" }
		network        = { VirtualEthernet = false }
	}
	service {
		service = { RestartSec = "10s", Restart = "on-failure" }
		unit    = { StartLimitIntervalSec = 0 }
	}
`

// part makes one part of a machine.
func part(t testing.TB, phase, text string) block.Step {
	t.Helper()
	args := blocktest.Args(t, nspawnmachine.Type(), text)
	args.Phase = phase
	return blocktest.StepOf(t, nspawnmachine.Type(), args)
}

func phased(phase string) func(*block.Args) {
	return func(a *block.Args) { a.Phase = phase }
}

// up brings a machine up on a stage.
func up(t testing.TB, s *blocktest.Stage, text string) {
	t.Helper()
	for _, phase := range []string{"rootfs", "boot", "ready"} {
		s.MustApply(t, part(t, phase, text))
	}
}

func TestRootfsContract(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		change func(*memory.Options)
	}{
		"new":     {body("/srv/one.tar", settings), nil},
		"offline": {body("/srv/one.tar", settings), func(o *memory.Options) { o.Offline = true }},
		"binds":   {body("/srv/one.tar", "settings {\n bind_if_exists = [\"/dev/kv*\", \"/dev/none\"]\n}"), nil},
		"plain":   {body("/srv/linked.tar", ""), nil},
		"files of others": {body("/srv/one.tar", settings), func(o *memory.Options) {
			o.Files["/etc/systemd/nspawn/kube1.nspawn"] = memory.File{Content: "[Exec]\nBoot=no\n", Mode: 0o600}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			blocktest.Run(t, blocktest.Case{
				Type: nspawnmachine.Type(), Body: c.body, Adjust: phased("rootfs"),
				Host: func(*testing.T) host.Host { return memoryHost(c.change).Host() },
			})
		})
	}
}

func TestBootContract(t *testing.T) {
	machine := memory.Machine{Name: "kube1", Enabled: true}
	blocktest.Run(t, blocktest.Case{
		Type: nspawnmachine.Type(), Body: body("/srv/one.tar", ""), Adjust: phased("boot"), Names: []string{"kube1"}, Tolerated: []string{"reset-failed"},
		Roots: []string{"/etc", "/run", "/var"},
		Host: func(*testing.T) host.Host {
			m := memoryHost(func(o *memory.Options) { o.Machines = []memory.Machine{machine} })
			h := m.Host()
			if err := thing.StopMachine(context.Background(), h, "kube1"); err != nil {
				panic(err)
			}
			return h
		},
	})
}

func TestFiles(t *testing.T) {
	m := memoryHost(func(o *memory.Options) {
		o.Files["/dev/nvidia1"], o.Files["/dev/nvidia0"] = memory.File{}, memory.File{}
		o.Files["/dev/dangling"] = memory.File{Link: "/nowhere"}
		o.Files["/usr/lib/libcuda.so.1"] = memory.File{}
	})
	h := m.Host()
	special := h.Files.(host.Special)
	if err := special.Mknod("/dev/fuse", 0o020666, 10<<8|229); err != nil {
		t.Fatal(err)
	}
	s := blocktest.NewStage(h)
	s.MustApply(t, part(t, "rootfs", body("/srv/one.tar", strings.Replace(settings, "network ", "bind_if_exists = [\"/dev/nvidia*\", \"/dev/fuse\", \"/dev/dangling\", \"/dev/fus?\", \"/gone/*\"]\nbind_read_only_if_exists = [\"/usr/lib/libcuda*\", \"/dev/nvidia1\", \"/gone\"]\nnetwork ", 1))))
	const head = "# Written by hostler; changes are overwritten.\n"
	for name, want := range map[string]string{
		"/etc/systemd/nspawn/kube1.nspawn": head + "\n[Exec]\nCapability=all\nPrivateUsers=no\n\n[Network]\nVirtualEthernet=false\n\n" +
			"[Files]\nBind=/run/x\nBindReadOnly=/lib/modules\nBindReadOnly=/srv\nBind=/dev/fuse\nBind=/dev/nvidia0\nBind=/dev/nvidia1\nBindReadOnly=/usr/lib/libcuda.so.1\n",
		"/etc/systemd/system/systemd-nspawn@kube1.service.d/10-hostler.conf": head + "\n[Unit]\nStartLimitIntervalSec=0\n\n" +
			"[Service]\nRestart=on-failure\nRestartSec=10s\nDeviceAllow=/dev/fuse rwm\n\n[Install]\nWantedBy=multi-user.target\n",
	} {
		got, err := thing.ReadAll(h.Files, name)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
	for _, link := range []string{"machines.target.wants", "multi-user.target.wants"} {
		if _, err := h.Files.ReadlinkIfPossible("/etc/systemd/system/" + link + "/systemd-nspawn@kube1.service"); err != nil {
			t.Error(err)
		}
	}
}

// TestC36Names: nine names that systemd does not take, three that it does.
func TestC36Names(t *testing.T) {
	for _, name := range []string{"work_dev", "-lead", "trail-", "a..b", "ünï", "a@b", "a/b", ".hidden", strings.Repeat("a", 65)} {
		text := strings.Replace(body("/srv/one.tar", ""), "kube1", name, 1)
		if faults := blocktest.Faults(nspawnmachine.Type(), text); !strings.Contains(faults, "A machine name is 1 to 64") || !strings.Contains(faults, "line 1:") {
			t.Errorf("%q: %q", name, faults)
		}
		args := blocktest.Args(t, nspawnmachine.Type(), strings.Replace(body("/srv/one.tar", ""), `name = "kube1"`, "", 1))
		args.Label = name
		if _, diags := nspawnmachine.Type().New(args); !diags.HasErrors() {
			t.Errorf("label %q is taken", name)
		}
	}
	for _, name := range []string{strings.Repeat("a", 64), "UPPER", "a.b"} {
		text := strings.Replace(body("/srv/one.tar", ""), "kube1", name, 1)
		if faults := blocktest.Faults(nspawnmachine.Type(), text); faults != "" {
			t.Errorf("%q: %s", name, faults)
		}
	}
}

func TestFaults(t *testing.T) {
	for more, want := range map[string]string{
		"settings {\n exec = { Capability = \"all\\n[Files]\\nBind=/\" }\n}":                  "line 7: Invalid exec: Capability: the value holds a line end",
		"settings {\n files = { Bind = [\"/a\", \"/b\\\\\"] }\n}":                             "Bind: the value ends in a backslash",
		"settings {\n network = { \"A]\\n[B\" = \"x\" }\n}":                                   "is no name of a directive",
		"settings {\n exec = \"x\"\n}":                                                        "Write the directives of [Exec] as an object",
		"settings {\n exec = { A = { b = 1 } }\n}":                                            "A: write a string, or a list",
		"settings {\n exec = { A = [null] }\n}":                                               "A: leave out the null",
		"settings {\n bind_if_exists = [\"dev/kvm\"]\n}":                                      "bind_if_exists",
		"settings {\n bind_if_exists = [\"/dev/[\"]\n}":                                       "a bracket is not closed",
		"settings {\n bind_read_only_if_exists = [\"lib*\"]\n}":                               "bind_read_only_if_exists",
		"settings {\n bind_if_exists = [\"/a:/b\"]\n}":                                        "a colon or a line end",
		"settings {\n exec = { PrivateUsers = \"pick\" }\n files = { ReadOnly = \"yes\" }\n}": "Read-only tree cannot change owners",
		"ready {\n}": "Write exactly one of unit, command and file",
		"ready {\n unit = \"a.service\"\n file = \"/x\"\n}": "Write exactly one of unit, command and file",
		"ready {\n file = \"/x\"\n on_timeout = [[]]\n}":    "on_timeout",
		"slots = [\"a\", \"b\"]":                            "Write either name or slots",
		"slots = [\"a\", \"a\"]":                            "given twice",
		"slots = []":                                        "Write the names of the slots",
		"slots = [\"a_b\"]":                                 "systemd does not take",
	} {
		if faults := blocktest.Faults(nspawnmachine.Type(), body("/srv/one.tar", more)); !strings.Contains(faults, want) {
			t.Errorf("%s\n got  %q\n want %q", more, faults, want)
		}
	}
	for image, want := range map[string]string{
		"ubuntu": "is none of REGISTRY", "https://h.example/x.tar": "needs sha256", "oci-layout:x": "absolute, clean path",
	} {
		if faults := blocktest.Faults(nspawnmachine.Type(), body(image, "")); !strings.Contains(faults, want) || !strings.Contains(faults, "line 3:") {
			t.Errorf("%s: %q, want %q", image, faults, want)
		}
	}
	text := strings.Replace(body("/srv/one.tar", ""), "linux/amd64", "linux", 1)
	if faults := blocktest.Faults(nspawnmachine.Type(), text); !strings.Contains(faults, "Invalid platform") {
		t.Error(faults)
	}
	// C41: with map the same goes.
	if faults := blocktest.Faults(nspawnmachine.Type(), body("/srv/one.tar",
		"settings {\n exec = { PrivateUsers = \"pick\" }\n files = { ReadOnly = \"yes\", PrivateUsersOwnership = \"map\" }\n}")); faults != "" {
		t.Error(faults)
	}
}

// TestC44OSRelease: links are resolved in the tree, and a tree without one is
// refused before anything is written.
func TestC44OSRelease(t *testing.T) {
	for image, want := range map[string]string{
		"/srv/linked.tar": "", "/srv/one.tar": "",
		"/srv/none.tar":    "/var/lib/machines/kube1/etc/os-release",
		"/srv/escape.tar":  "neither /var/lib/machines/kube1/etc/os-release",
		"/srv/shifted.tar": "belongs to 500000:0 and not to root",
		"/srv/broken.tar":  `entry "../evil"`,
	} {
		s := blocktest.NewStage(memoryHost(nil).Host())
		err := s.Apply(part(t, "rootfs", body(image, settings)))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "machine kube1")) {
			t.Errorf("%s: error %v, want %q", image, err, want)
		}
		if _, lerr := host.Lstat(s.Host.Files, "/etc/systemd/nspawn/kube1.nspawn"); (err == nil) != (lerr == nil) {
			t.Errorf("%s: settings: %v", image, lerr)
		}
		if _, complete, _ := rootfs.Complete(s.Host.Files, "kube1"); complete != (err == nil) {
			t.Errorf("%s: complete is %v", image, complete)
		}
		if err != nil { // and another image can take its place
			s.MustApply(t, part(t, "rootfs", body("/srv/one.tar", settings)))
		}
	}
}

func TestSlots(t *testing.T) {
	text := "slots = [\"kube1\", \"kube2\"]\nrootfs {\n image = \"/srv/one.tar\"\n}\n" + settings
	args := blocktest.Args(t, nspawnmachine.Type(), text)
	args.Phase, args.Self, args.Facts.Arch = "rootfs", "kube2", "amd64"
	step := blocktest.StepOf(t, nspawnmachine.Type(), args)
	var keys []string
	for _, o := range step.Owns() {
		keys = append(keys, string(o.Key()))
	}
	if got := strings.Join(keys, " "); got != "path:/etc/systemd/nspawn/kube1.nspawn path:/etc/systemd/system/systemd-nspawn@kube1.service.d/10-hostler.conf machine:kube1 unit-enabled:systemd-nspawn@kube1.service "+
		"path:/etc/systemd/nspawn/kube2.nspawn path:/etc/systemd/system/systemd-nspawn@kube2.service.d/10-hostler.conf machine:kube2 unit-enabled:systemd-nspawn@kube2.service" {
		t.Errorf("owns %s", got)
	}
	s := blocktest.NewStage(memoryHost(nil).Host())
	s.MustApply(t, step)
	if _, ok, _ := rootfs.Complete(s.Host.Files, "kube1"); ok {
		t.Error("the idle slot was built")
	}
	if _, ok, _ := rootfs.Complete(s.Host.Files, "kube2"); !ok {
		t.Error("the active slot was not built")
	}
	// The other slot becomes active: only it is enabled.
	args.Self = "kube1"
	s.MustApply(t, blocktest.StepOf(t, nspawnmachine.Type(), args))
	if links, err := thing.EnablingLinks(s.Host.Files, thing.MachineUnit("kube2")); err != nil || len(links) != 0 {
		t.Errorf("kube2 is enabled: %v %v", links, err)
	}
	exports, err := nspawnmachine.Type().Exports(args)
	if err != nil || exports["root"].Value.AsString() != "/var/lib/machines/kube1" || len(exports["registered_before"].Registered) != 2 {
		t.Errorf("exports %+v %v", exports, err)
	}
}
