package memory_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

const nspawn = "systemd-nspawn@kube1.service"

// machineBox has a machine kube1 with a kubelet, both enabled.
func machineBox(t *testing.T, change func(*memory.Options)) box {
	t.Helper()
	o := memory.Options{Machines: []memory.Machine{{Name: "kube1", Enabled: true,
		Files: map[string]memory.File{"/etc/inside": {Content: "inside"}, "/etc/abs": {Link: "/etc/inside"}},
		Units: []memory.Unit{{Name: "kubelet.service", Enabled: true}, {Name: "other.service"}}}}}
	if change != nil {
		change(&o)
	}
	return newBox(t, o)
}

func (b box) registered() []string {
	b.Helper()
	list, err := b.Machines.Registered(b.Context())
	b.ok(err)
	var names []string
	for _, m := range list {
		alive := "alive"
		if !m.Alive {
			alive = "stale"
		}
		names = append(names, m.Name+" "+m.State+" "+alive)
	}
	return names
}

func TestMachineLife(t *testing.T) {
	b := machineBox(t, nil)
	b.same(b.registered(), "kube1 running alive")
	list, err := b.Machines.Registered(t.Context())
	b.ok(err)
	if m := list[0]; m.Unit != nspawn || m.Root != "/var/lib/machines/kube1" || m.Class != "container" ||
		m.Service != "systemd-nspawn" || m.Leader <= 0 {
		t.Errorf("the registration is %+v", m)
	}
	in := b.within("kube1")
	if !in.Identity.Live || in.Identity.Machine != "kube1" || in.Identity.Root != "/" {
		t.Errorf("inside it is %+v", in.Identity)
	}
	if in.read("/etc/abs") != "inside" || in.state("kubelet.service") != "active" || in.state("other.service") != "inactive" {
		t.Error("the machine is not what the options say")
	}
	in.put("/etc/made", "from inside")
	if got := b.read("/var/lib/machines/kube1/etc/made"); got != "from inside" {
		t.Errorf("the host sees %q", got)
	}
	b.run(host.JobStop, nspawn)
	b.same(b.registered())
	_, err = in.Units.Unit(t.Context(), "kubelet.service")
	b.is(err, host.ErrNoManager)
	if b.within("kube1").Identity.Live {
		t.Error("a stopped machine is live")
	}
	b.run(host.JobStart, nspawn)
	b.same(b.registered(), "kube1 running alive")
	_, err = in.Units.Manager(t.Context())
	b.is(err, host.ErrNoManager) // its manager needs time
	b.Advance(time.Second)
	if in.state("kubelet.service") != "active" {
		t.Error("an enabled unit inside does not start with the machine")
	}
	v, err := b.Machines.View(t.Context(), "kube1")
	b.ok(err)
	if _, err := v.Files.Stat("/etc/inside"); err != nil || v.Identity.Machine != "kube1" {
		t.Errorf("the view: %v", err)
	}
}

func TestMachineComesBackWithTheBoot(t *testing.T) {
	b := machineBox(t, nil)
	id := b.within("kube1").unit("kubelet.service").InvocationID
	b.PowerLoss(nil)
	b.same(b.registered(), "kube1 running alive")
	if u := b.within("kube1").unit("kubelet.service"); u.ActiveState != "active" || u.InvocationID == id {
		t.Errorf("after the boot the kubelet is %+v", u)
	}
	b.ok(b.Files.Remove(etc + "machines.target.wants/" + nspawn))
	b.Reboot()
	b.same(b.registered())
}

func TestC35StaleRegistration(t *testing.T) {
	b := machineBox(t, nil)
	b.KillMachine("kube1", true)
	b.KillMachine("kube1", true)
	b.KillMachine("none", true)
	b.same(b.registered(), "kube1 running stale")
	if u := b.unit(nspawn); u.ActiveState != "failed" || u.Result != "signal" {
		t.Errorf("the unit is %+v", u)
	}
	b.ok(b.Units.ResetFailed(t.Context(), nspawn))
	if got := b.jobResult(host.JobStart, nspawn); got != "failed" {
		t.Errorf("a start beside a stale registration ends with %q", got)
	}
	log, err := b.Units.Log(t.Context(), nspawn, 5)
	b.ok(err)
	if len(log) == 0 || !strings.Contains(log[0], "already exists") {
		t.Errorf("the log is %q", log)
	}
	b.ok(b.Machines.Terminate(t.Context(), "kube1"))
	b.same(b.registered(), "kube1 closing stale")
	b.Advance(time.Second)
	b.same(b.registered())
	b.run(host.JobStart, nspawn)
	b.same(b.registered(), "kube1 running alive")
}

func TestC38TerminateTakesTime(t *testing.T) {
	b := machineBox(t, nil)
	b.ok(b.Machines.Terminate(t.Context(), "kube1"))
	b.same(b.registered(), "kube1 closing alive")
	if b.state(nspawn) != "active" {
		t.Error("the unit ended with the call")
	}
	b.Advance(time.Second)
	b.same(b.registered())
	if b.state(nspawn) != "inactive" {
		t.Errorf("the unit is %s", b.state(nspawn))
	}
	b.ok(b.Machines.Terminate(t.Context(), "kube1"))
	b.run(host.JobStart, nspawn)
	b.ok(b.Machines.Terminate(t.Context(), "kube1"))
	b.run(host.JobRestart, nspawn) // another machine by now
	b.Advance(time.Second)
	b.same(b.registered(), "kube1 running alive")
}

func TestC44TreesThatNspawnRefuses(t *testing.T) {
	b := newBox(t, memory.Options{Files: map[string]memory.File{
		"/var/lib/machines/a/usr/lib/os-release": {Content: "ID=x\n"},
		"/var/lib/machines/a/etc/os-release":     {Link: "/usr/lib/os-release"},
		"/var/lib/machines/b/etc":                {Dir: true},
		"/var/lib/machines/-c/etc/os-release":    {Content: "ID=x\n"},
	}})
	b.run(host.JobStart, "systemd-nspawn@a.service")
	for name, want := range map[string]string{"b": "os-release", "none": "No image", "-c": "Invalid"} {
		unit := "systemd-nspawn@" + name + ".service"
		if got := b.jobResult(host.JobStart, unit); got != "failed" {
			t.Errorf("%s: the start ends with %q", name, got)
		}
		log, err := b.Units.Log(t.Context(), unit, 9)
		b.ok(err)
		if !strings.Contains(strings.Join(log, "\n"), want) {
			t.Errorf("%s: the log is %q", name, log)
		}
	}
	b.same(b.registered(), "a running alive")
	b.Advance(time.Second)
	s, err := b.within("a").Units.Manager(t.Context()) // a tree without unit files
	b.ok(err)
	if s.State != "running" {
		t.Errorf("the manager inside is %q", s.State)
	}
}

func TestC44NoMachined(t *testing.T) {
	b := newBox(t, memory.Options{NoSystemdContainer: true, Machines: []memory.Machine{{Name: "kube1"}},
		Executables: []string{"systemd-nspawn"},
		Files:       unitFiles(map[string]string{"own.service": "[Service]\nType=notify\nExecStart=systemd-nspawn -M kube1\n"})})
	_, err := b.Machines.Registered(t.Context())
	b.is(err, host.ErrNoMachined)
	b.is(b.Machines.Terminate(t.Context(), "kube1"), host.ErrNoMachined)
	b.is(b.Units.Run(t.Context(), host.JobStart, nspawn), host.ErrNoUnit)
	if got := b.jobResult(host.JobStart, "own.service"); got != "failed" {
		t.Errorf("nspawn without machined ends with %q", got)
	}
	if b.within("kube1").Identity.Live {
		t.Error("a machine at rest is live")
	}
}

func TestInventoryFails(t *testing.T) {
	b := machineBox(t, nil)
	broken := errors.New("connection timed out")
	b.Refuse(memory.CallRegistered, broken)
	_, err := b.Machines.Registered(t.Context())
	b.is(err, broken)
	b.Refuse(memory.CallTerminate, broken)
	b.is(b.Machines.Terminate(t.Context(), "kube1"), broken)
}

func TestMachineScripts(t *testing.T) {
	b := machineBox(t, func(o *memory.Options) {
		o.Scripts = map[string]memory.Script{
			"kube1/kubelet.service": func(n int) memory.Outcome { return memory.Outcome{Ends: n < 3, Status: 1, Log: []string{"no config"}} },
			nspawn:                  func(n int) memory.Outcome { return memory.Outcome{Ends: n == 2, Status: 1} },
		}
	})
	in := b.within("kube1")
	b.Advance(time.Second)
	if in.state("kubelet.service") != "failed" {
		t.Error("the script of a unit inside does not count")
	}
	for range 2 {
		in.run(host.JobStart, "kubelet.service")
		in.Advance(time.Second)
	}
	if in.state("kubelet.service") != "active" {
		t.Error("the script does not see the third start")
	}
	b.run(host.JobStop, nspawn)
	if got := b.jobResult(host.JobStart, nspawn); got != "failed" {
		t.Errorf("the script of the machine's own unit: %q", got)
	}
	b.run(host.JobStart, nspawn)
	b.same(b.registered(), "kube1 running alive")
}

// What was to happen inside a machine does not happen once it is gone.
func TestMachineTimersDieWithIt(t *testing.T) {
	starts := 0
	b := machineBox(t, func(o *memory.Options) {
		o.Machines[0].Units = []memory.Unit{{Name: "loop.service", Enabled: true, Content: service + "Restart=always\nRestartSec=10\n"}}
		o.Scripts = map[string]memory.Script{"kube1/loop.service": func(int) memory.Outcome {
			starts++
			return memory.Outcome{Ends: true, Status: 1}
		}}
	})
	b.Advance(15 * time.Second)
	b.KillMachine("kube1", false)
	b.same(b.registered())
	before := starts
	b.Advance(time.Hour)
	if before < 2 || starts != before {
		t.Errorf("%d starts before the machine died, %d after", before, starts-before)
	}
}

func TestMachineRestartsByItsUnit(t *testing.T) {
	b := machineBox(t, func(o *memory.Options) {
		o.Files = map[string]memory.File{etc + nspawn + ".d/x.conf": {Content: "[Service]\nRestart=on-failure\n"}}
	})
	old, err := b.Machines.Registered(t.Context())
	b.ok(err)
	b.KillMachine("kube1", false)
	b.Advance(time.Second)
	fresh, err := b.Machines.Registered(t.Context())
	b.ok(err)
	if len(fresh) != 1 || fresh[0].Leader == old[0].Leader || b.unit(nspawn).NRestarts != 1 {
		t.Errorf("after the restart: %+v", fresh)
	}
}

func TestInsideAMachine(t *testing.T) {
	b := machineBox(t, func(o *memory.Options) {
		o.Kernel.Sysctl = map[string]string{"net.ipv4.ip_forward": "1"}
		o.Mounts = []memory.Mount{{Point: "/var/lib/machines", Type: "xfs"}, {Point: "/var/lib/machines/kube1/data"}}
		o.Programs = map[string]memory.Program{"where": func(i memory.Invocation) host.CommandResult {
			return host.CommandResult{Stdout: []byte(i.Host.Identity.Machine)}
		}}
		o.Machines[0].Files["/usr/bin/where"] = memory.File{Mode: 0o755}
	})
	in, ctx := b.within("kube1"), t.Context()
	r, err := in.Commands.Run(ctx, host.Command{Argv: []string{"where"}})
	b.ok(err)
	if string(r.Stdout) != "kube1" {
		t.Errorf("the command ran in %q", r.Stdout)
	}
	_, err = b.Commands.Run(ctx, host.Command{Argv: []string{"where"}})
	b.is(err, host.ErrNoTool)
	v, err := in.Kernel.Sysctl(ctx, "net/ipv4/ip_forward")
	b.ok(err)
	if v != "1" {
		t.Errorf("sysctl inside is %q", v)
	}
	if err := in.Kernel.SetSysctl(ctx, "net.ipv4.ip_forward", "0"); err == nil {
		t.Error("/proc/sys can be written inside")
	}
	_, err = in.Machines.Registered(ctx)
	b.is(err, host.ErrNoMachined)
	_, err = in.Machines.Host(ctx, "kube1")
	b.is(err, host.ErrNoMachine)
	for name, point := range map[string]string{"/etc": "/", "/data/x": "/data"} {
		m, err := in.Storage.Mount(ctx, name)
		b.ok(err)
		if m.Point != point {
			t.Errorf("%s is on %+v", name, m)
		}
	}
	list, err := in.Storage.Mounts(ctx)
	b.ok(err)
	if len(list) != 2 || list[0].Point != "/" || list[1].Point != "/data" {
		t.Errorf("mounts inside: %+v", list)
	}
	b.ok(in.Kernel.Unmount(ctx, "/data"))
	release, err := in.Locks.Acquire(ctx, host.LockExclusive, host.Holder{})
	b.ok(err)
	b.ok(release())
	b.ok(b.Files.RemoveAll("/var/lib/machines/kube1/etc"))
	if in.there("/etc") {
		t.Error("the machine keeps what the host removed")
	}
}

func TestCommandsInABootingMachine(t *testing.T) {
	b := machineBox(t, nil)
	b.run(host.JobRestart, nspawn)
	in := b.within("kube1")
	_, err := in.Commands.Run(t.Context(), host.Command{Argv: []string{"true"}})
	b.is(err, host.ErrNoManager)
	b.Advance(time.Second)
	_, err = in.Commands.Run(t.Context(), host.Command{Argv: []string{"true"}})
	b.ok(err)
}
