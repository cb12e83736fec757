//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hostler/testdata/lab"
)

// offline is a real Debian tree that is not booted.
type offline struct {
	t    *testing.T
	root string
	bin  string
}

// workerLayout is where the trees have the image of the machine.
const workerLayout = "oci-layout:/srv/image:1"

// plant is a Debian tree with an OCI image of four layers: a real Debian, and
// what is hard to get right above it.
func plant(t *testing.T) *offline {
	t.Helper()
	o := &offline{t, lab.Tree(t, "host"), lab.Build(t)}
	layoutOf(t, filepath.Join(o.root, "srv/image"),
		lab.GuestLayer(t),
		layerOf(t, entry{name: "opt/"}, entry{name: "opt/tool/"},
			entry{name: "opt/tool/one", content: "the tool\n", mode: 0o4755}, entry{name: "opt/tool/two", hard: "opt/tool/one"}, entry{name: "opt/tool/three", hard: "opt/tool/one"},
			entry{name: "opt/old/"}, entry{name: "opt/old/a", content: "a"}, entry{name: "opt/old/b", content: "b"},
			entry{name: "opt/kept/"}, entry{name: "opt/kept/below", content: "below", uid: 1000}, entry{name: "opt/link", symbolic: "/opt/tool/one"}),
		layerOf(t, entry{name: "opt/tool/.wh.three"}, entry{name: "opt/old/.wh..wh..opq"}, entry{name: "opt/old/new", content: "new"}, entry{name: "opt/.wh.link"}),
		layerOf(t, entry{name: "opt/kept/above", content: "above"}, entry{name: "opt/link", content: "a file now"}),
	)
	return o
}

func (o *offline) run(args ...string) lab.Result {
	o.t.Helper()
	var out, errs strings.Builder
	cmd := exec.Command(o.bin, append(args, "--root", o.root)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		o.t.Fatal(err)
	}
	return lab.Result{Code: cmd.ProcessState.ExitCode(), Stdout: out.String(), Stderr: errs.String()}
}

func (o *offline) must(args ...string) lab.Result {
	o.t.Helper()
	res := o.run(args...)
	if res.Code != 0 {
		o.t.Fatalf("hostler %s: %s", strings.Join(args, " "), res)
	}
	return res
}

// tool runs a tool of systemd on the tree; its output is both streams.
func (o *offline) tool(name string, args ...string) string {
	o.t.Helper()
	out, _ := exec.Command(name, append([]string{"--root=" + o.root}, args...)...).CombinedOutput()
	return strings.TrimSpace(string(out))
}

// inodes are the identities of everything below a directory that is no
// directory itself.
func (o *offline) inodes(dir string) string {
	o.t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(o.root, dir), func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&all, "%s %d %v\n", name, info.Sys().(*syscall.Stat_t).Ino, info.Mode())
		return nil
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return all.String()
}

// without is a copy of a recipe directory from which a step is taken.
func without(t *testing.T, dir, step string) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "recipe")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(copied, "recipe.hcl")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?ms)^  ` + regexp.QuoteMeta(step) + ` \{$.*?^  \}$`).FindIndex(text)
	if found == nil {
		t.Fatalf("%s has no %s", dir, step)
	}
	text = slices.Concat(text[:found[0]], text[found[1]:])
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return copied
}

// older leaves out what this systemd passes over because it is from before the
// directive.
func older(out string) string {
	return regexp.MustCompile(`(?m)^.*Unknown key '(RestartSteps|RestartMaxDelaySec)' in section \[Service\], ignoring\.$`).ReplaceAllString(out, "")
}

// TestRealTrees: the recipes that are shipped and shown, on real Debian trees:
// applied, checked with systemd's own tools, applied again, pruned and reset.
func TestRealTrees(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, dir string
		vars      []string
		enabled   map[string]string // units and what systemctl says of them
		verify    []string
		machine   string
		drop      string // a step, and what it leaves
		dropped   string
	}{
		{
			name: "nspawn-worker", dir: "../../recipes/debian/12/nspawn-worker", vars: []string{"rootfs_image=" + workerLayout, "machine=worker1", `nameservers=["192.0.2.1"]`},
			enabled: map[string]string{"hostler-nft-flush.service": "enabled", "systemd-nspawn@worker1.service": "enabled"},
			verify:  []string{"hostler-nft-flush.service", "systemd-nspawn@worker1.service"}, machine: "worker1",
			drop: `write_file_if_changed "needrestart"`, dropped: "etc/needrestart",
		},
		{
			name: "build-host", dir: "../../examples/build-host", vars: []string{"image=" + workerLayout},
			enabled: map[string]string{"systemd-nspawn@build1.service": "enabled"}, verify: []string{"systemd-nspawn@build1.service"}, machine: "build1",
			drop: `directory "cache"`, dropped: "var/cache/build-host",
		},
		{
			name: "metrics-site", dir: "../../examples/metrics-site", vars: []string{"site=west-2"},
			enabled: map[string]string{"metrics-agent.service": "enabled", "systemd-journald.service": "static"}, verify: []string{"metrics-agent.service"},
			drop: `symlink "current"`, dropped: "usr/local/bin/metrics-agent-current",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := plant(t)
			var vars []string
			for _, v := range c.vars {
				vars = append(vars, "--var", v)
			}
			before := lab.Snapshot(t, o.root)
			o.must(append([]string{"plan", c.dir}, vars...)...)
			if changes := lab.Changes(before, lab.Snapshot(t, o.root)); len(changes) > 0 {
				t.Errorf("a plan changed\n%s", strings.Join(changes, "\n"))
			}
			o.must(append([]string{"apply", c.dir}, vars...)...)
			for unit, want := range c.enabled {
				if got := o.tool("systemctl", "is-enabled", unit); got != want {
					t.Errorf("%s is %s, want %s", unit, got, want)
				}
			}
			for _, unit := range c.verify {
				if out := older(o.tool("systemd-analyze", "verify", unit)); strings.Contains(out, "/etc/systemd/system/") {
					t.Errorf("systemd-analyze verify %s: %s", unit, out)
				}
			}
			if c.machine != "" {
				o.checkMachine(c.machine)
			}
			inodes := o.inodes("etc") + o.inodes("var/lib") + o.inodes("usr/local")
			if res := o.must(append([]string{"apply", c.dir}, vars...)...); !strings.Contains(res.Stdout, "Nothing to do") {
				t.Errorf("again: %s", res)
			}
			if now := o.inodes("etc") + o.inodes("var/lib") + o.inodes("usr/local"); now != inodes {
				t.Errorf("a second apply wrote files again:\n%s", strings.Join(difference(inodes, now), "\n"))
			}
			o.must(append([]string{"apply", without(t, c.dir, c.drop)}, vars...)...)
			if _, err := os.Lstat(filepath.Join(o.root, c.dropped)); !os.IsNotExist(err) {
				t.Errorf("%s is left of a step that was dropped (%v)", c.dropped, err)
			}
			o.must("reset")
			if changes := lab.Changes(before, lab.Snapshot(t, o.root)); len(changes) > 0 {
				t.Errorf("left after the reset\n%s", strings.Join(changes, "\n"))
			}
		})
	}
}

// difference lists the lines that only one of two texts has.
func difference(before, after string) (lines []string) {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	for _, line := range a {
		if !slices.Contains(b, line) {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			lines = append(lines, "+ "+line)
		}
	}
	return lines
}

// checkMachine holds the unpacked image to what its layers say.
func (o *offline) checkMachine(name string) {
	o.t.Helper()
	root := filepath.Join(o.root, "var/lib/machines", name)
	for file, want := range map[string]string{"opt/tool/two": "the tool\n", "opt/old/new": "new", "opt/kept/below": "below", "opt/kept/above": "above", "opt/link": "a file now"} {
		if got, err := os.ReadFile(filepath.Join(root, file)); err != nil || string(got) != want {
			o.t.Errorf("%s is %q (%v)", file, got, err)
		}
	}
	for _, file := range []string{"opt/tool/three", "opt/old/a", "opt/old/b"} {
		if _, err := os.Lstat(filepath.Join(root, file)); !os.IsNotExist(err) {
			o.t.Errorf("%s is there, which a whiteout removes (%v)", file, err)
		}
	}
	one, err := os.Lstat(filepath.Join(root, "opt/tool/one"))
	if err != nil {
		o.t.Fatal(err)
	}
	two, err := os.Lstat(filepath.Join(root, "opt/tool/two"))
	if err != nil {
		o.t.Fatal(err)
	}
	if st := one.Sys().(*syscall.Stat_t); !os.SameFile(one, two) || st.Nlink != 2 || one.Mode() != 0o755|os.ModeSetuid {
		o.t.Errorf("opt/tool/one has %d links and the mode %v; the same file as two: %v", st.Nlink, one.Mode(), os.SameFile(one, two))
	}
	below, err := os.Lstat(filepath.Join(root, "opt/kept/below"))
	if err != nil || below.Sys().(*syscall.Stat_t).Uid != 1000 {
		o.t.Errorf("opt/kept/below belongs to somebody else (%v)", err)
	}
	if target, err := os.Readlink(filepath.Join(root, "etc/systemd/system/systemd-resolved.service")); err != nil || target != "/dev/null" {
		o.t.Errorf("systemd-resolved is not masked in the machine: %q (%v)", target, err)
	}
}

// TestShippedWorker: the shipped recipe on a booted host, its settings as
// systemd-nspawn reads them.
func TestShippedWorker(t *testing.T) {
	t.Parallel()
	s := settle(t, lab.Options{})
	image := lab.Registry(t).Push("worker:1", lab.GuestLayer(t))
	before := s.config()
	// Of the kernel's parameters only those of its network are the host's own.
	args := []string{"apply", "recipe:debian/12/nspawn-worker", "--var", "rootfs_image=" + image, "--var", "interpreter=false", "--var",
		`sysctl={ "kernel.keys.root_maxkeys" = null, "kernel.panic" = null, "kernel.panic_on_oops" = null, "vm.overcommit_memory" = null }`}
	s.must(args...)
	s.wantChanged(s.must(args...))
	s.wantChanged(s.must("ensure"))
	if log := s.MustExec("journalctl", "--unit=systemd-nspawn@worker1.service", "--output=cat", "--no-pager"); regexp.MustCompile(`(?i)unknown|ignoring|failed to parse`).MatchString(log) {
		t.Errorf("systemd-nspawn does not take all of the settings:\n%s", log)
	}
	if flush := s.show("", "hostler-nft-flush.service"); number(t, flush["ExecMainExitTimestampMonotonic"]) == 0 || flush["Result"] != "success" {
		t.Errorf("the flush has not run: %s", flush["Result"])
	}
	s.Push("/etc/systemd/system/boot-ensure.service", []byte("[Service]\nType=oneshot\nTimeoutStartSec=120\nExecStart="+program+" ensure --output json\nStandardOutput=truncate:/root/events\n[Install]\nWantedBy=multi-user.target\n"), 0o644)
	s.MustExec("systemctl", "enable", "boot-ensure.service")
	s.Reboot()
	if p := s.show("", "boot-ensure.service"); p["Result"] != "success" || number(t, p["ExecMainExitTimestampMonotonic"]) == 0 {
		t.Errorf("the run at boot ended with %s: %s", p["Result"], s.sh("cat /root/events; journalctl --unit=boot-ensure --output=cat --no-pager"))
	}
	for _, address := range eventsOf(t, lab.Result{Stdout: s.sh("cat /root/events")}).changed() {
		if address != "nspawn_machine.worker" { // which it may have found starting
			t.Errorf("the run at boot changed %s", address)
		}
	}
	s.sh("systemctl disable boot-ensure.service; rm /etc/systemd/system/boot-ensure.service")
	s.eventually("the machine is up", func() bool {
		return s.Exec("systemctl", "--machine=worker1", "is-active", "multi-user.target").Code == 0
	})
	flush, spawned := s.show("", "hostler-nft-flush.service"), s.show("", "systemd-nspawn@worker1.service")
	if ended := number(t, flush["ExecMainExitTimestampMonotonic"]); ended == 0 || ended > number(t, spawned["ExecMainStartTimestampMonotonic"]) {
		t.Errorf("the flush ended at %d, the machine began at %s", ended, spawned["ExecMainStartTimestampMonotonic"])
	}
	s.wantChanged(s.must("ensure"))
	s.must("reset")
	if changes := lab.Changes(before, s.config()); len(changes) > 0 {
		t.Errorf("left on the host:\n%s", strings.Join(changes, "\n"))
	}
}
