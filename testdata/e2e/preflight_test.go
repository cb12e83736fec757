//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"hostler/testdata/lab"
)

// finding is what one requirement found.
type finding struct{ Address, Status, Summary, Advice string }

// preflight is the document of hostler preflight.
type preflight struct {
	Passed       bool
	ErrorCount   int `json:"error_count"`
	WarningCount int `json:"warning_count"`
	Findings     []finding
}

// probe is one requirement and what is found; ok when that is empty.
type probe struct{ name, body, status, summary, advice string }

// probeAll runs preflight once with all probes and holds it to what each finds.
func (s *site) probeAll(more string, probes []probe) {
	s.t.Helper()
	var text strings.Builder
	errors, warnings := 0, 0
	for _, p := range probes {
		fmt.Fprintf(&text, "require_capability %q {\n%s\n}\n", p.name, p.body)
		switch p.status {
		case "error":
			errors++
		case "warning":
			warnings++
		}
	}
	recipe := s.write(text.String() + more)
	before := s.config()
	doc, code := document[preflight](s, "preflight", recipe)
	if doc.ErrorCount != errors || doc.WarningCount != warnings || doc.Passed != (errors == 0) || (code == 78) != (errors > 0) || code != 0 && code != 78 {
		s.t.Errorf("exit code %d with %d errors, %d warnings; want %d and %d", code, doc.ErrorCount, doc.WarningCount, errors, warnings)
	}
	found := map[string]finding{}
	for _, f := range doc.Findings {
		found[f.Address] = f
	}
	plain := s.Exec(program, "preflight", recipe)
	for _, p := range probes {
		f := found["require_capability."+p.name]
		if p.status == "" {
			p.status = "ok"
		}
		if f.Status != p.status || !strings.Contains(f.Summary, p.summary) || !strings.Contains(f.Advice, p.advice) {
			s.t.Errorf("%s: found %+v, want %s: %q, %q", p.name, f, p.status, p.summary, p.advice)
		}
		if p.status != "ok" && !strings.Contains(plain.Stdout+plain.Stderr, p.summary) {
			s.t.Errorf("%s: the text lacks %q", p.name, p.summary)
		}
	}
	if plain.Code != code {
		s.t.Errorf("as text it ends with %d, as JSON with %d", plain.Code, code)
	}
	if changes := lab.Changes(before, s.config()); len(changes) > 0 {
		s.t.Errorf("preflight changed\n%s", strings.Join(changes, "\n"))
	}
	if errors == 0 {
		return
	}
	want := 78
	if more != "" {
		want = 73 // its machine is there already, and not ours
	}
	if o := s.hostler("apply", recipe); o.Code != want || s.Exec("test", "-e", "/var/lib/hostler").Code == 0 {
		s.t.Errorf("apply of what the host does not meet: %s", o)
	}
}

// TestPreflight asks a plain host for all that can be required, with a machine
// in it (R144–R147, H35, H43).
func TestPreflight(t *testing.T) {
	t.Parallel()
	s := settle(t, lab.Options{})
	status := func(code int) string {
		return lab.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
	}
	secure, authority := lab.ServeTLS(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Push("/etc/authority.pem", authority, 0o644)
	registry := lab.Registry(t)
	image := registry.Push("there:1", lab.Layer(t, map[string]string{"etc/os-release": "ID=x\n"}))

	s.Machine(machine)
	s.Push("/var/lib/machines/kube1/usr/lib/systemd/system/port.socket", []byte("[Socket]\nListenStream=10250\nAccept=yes\n"), 0o644)
	s.Push("/var/lib/machines/kube1/usr/lib/systemd/system/port@.service", []byte("[Service]\nExecStart=/bin/true\n"), 0o644)
	s.Push("/var/lib/machines/kube1/usr/lib/systemd/system/sockets.target.d/port.conf", []byte("[Unit]\nWants=port.socket\n"), 0o644)
	s.Push("/etc/systemd/nspawn/kube1.nspawn", []byte("[Network]\nVirtualEthernet=no\n[Exec]\nPrivateUsers=no\n"), 0o644)
	s.sh("systemctl start systemd-nspawn@kube1.service; systemd-run --quiet --unit=taken systemd-socket-activate --listen=0.0.0.0:10251 cat")
	s.Listen("0.0.0.0:10252")
	s.eventually("both listen", func() bool { return strings.Count(s.sh("ss -Hltn"), ":1025") == 3 })

	s.probeAll("nspawn_machine \"kube1\" {\n rootfs { image = \"oci-layout:/srv/none\" }\n}\n", []probe{
		{name: "kernel", body: `kernel_min = "4.0"`},
		{name: "kernel_future", body: `kernel_min = "99.1"`, status: "error", summary: "older than 99.1"},
		{name: "systemd", body: `systemd_min = 249`},
		{name: "systemd_future", body: `systemd_min = 999`, status: "error", summary: "older than 999"},
		s.cgroupProbe(),
		{name: "writable", body: `writable = "/opt/new/place"`},
		{name: "writable_below_file", body: `writable = "/etc/passwd/x"`, status: "error", summary: "/etc/passwd is not a directory"},
		{name: "exec", body: `executable_from = "/opt/new"`},
		{name: "noexec", body: `executable_from = "/proc/x"`, status: "error", summary: "noexec"},
		{name: "space", body: "free_space {\n path = \"/var/lib/none\"\n bytes = 1048576\n}"},
		{name: "no_space", body: "free_space {\n path = \"/var/lib/none\"\n bytes = 1152921504606846976\n}", status: "error", summary: "are needed"},
		{name: "free", body: `free_address = "0.0.0.0:9999"`},
		{name: "machine_port", body: "free_address = \"0.0.0.0:10250\"\n owner = \"kube1\""},
		{name: "machine_port_unowned", body: `free_address = "127.0.0.1:10250"`, status: "error", summary: "is taken"},
		{name: "host_port", body: "free_address = \"0.0.0.0:10251\"\n owner = \"kube1\"", status: "error", summary: "systemd-socket-activate"},
		{name: "hidden_port", body: "free_address = \"0.0.0.0:10252\"\n owner = \"kube1\"", status: "error", summary: "a process that cannot be found"},
		{name: "answers", body: fmt.Sprintf("reachable = %q", status(200))},
		{name: "refuses", body: fmt.Sprintf("reachable = %q", status(401))},
		{name: "ails", body: fmt.Sprintf("reachable = %q", status(503)), status: "error", summary: "status 503"},
		{name: "nobody", body: `reachable = "http://10.77.0.1:1"`, status: "error", summary: "does not answer"},
		{name: "tls", body: fmt.Sprintf("reachable = %q\n ca_certificate = \"/etc/authority.pem\"", secure)},
		{name: "tls_untrusted", body: fmt.Sprintf("reachable = %q", secure), status: "error", summary: "certificate"},
		{name: "image", body: fmt.Sprintf("image = %q", image)},
		{name: "no_image", body: fmt.Sprintf("image = %q", registry.Address+"/there:2"), status: "error", summary: "cannot be had"},
		{name: "no_layout", body: `image = "oci-layout:/srv/none"`, status: "error", summary: "/srv/none"},
		{name: "inactive", body: `unit_inactive = "docker.service"`},
		{name: "active", body: `unit_inactive = "dbus.service"`, status: "error", summary: "dbus.service is active"},
		{name: "no_module", body: `kernel_module = "no_such_module"`, status: "error", summary: "no_such_module"},
		{name: "tools", body: `executables = ["systemd-nspawn", "nft"]`},
		{name: "no_tool", body: `executable = "no-such-tool"`, status: "error", summary: "no-such-tool"},
		{name: "no_tool_warned", body: "executable = \"no-such-tool\"\n severity = \"warning\"", status: "warning", summary: "no-such-tool"},
		{name: "swap", body: `no_swap = true`},
	})
}

// cgroupProbe asks for what the host has: the lab takes over the machine's.
func (s *site) cgroupProbe() probe {
	s.t.Helper()
	p := probe{name: "cgroup", body: `cgroup = "v2"`}
	if s.sh("stat -f -c %T /sys/fs/cgroup") != "cgroup2fs" {
		p.status, p.summary, p.advice = "error", "cgroup v1", "systemd.unified_cgroup_hierarchy=1"
	}
	return p
}

// TestPreflightOddHosts: hosts that lack something, each with the advice that
// fits it (R175–R177, C44).
func TestPreflightOddHosts(t *testing.T) {
	t.Parallel()
	tools := "executables = [\"systemd-nspawn\", \"nft\"]\n packages = { apt = [\"systemd-container\", \"nftables\"] }"
	bare := []lab.Variant{lab.NoSystemdContainer, lab.NoNft, lab.NoPackageManager}
	t.Run("C44 no machined on Debian", func(t *testing.T) {
		t.Parallel()
		s := settle(t, lab.Options{Variants: bare})
		s.probeAll("", []probe{{name: "tools", body: tools, status: "error", summary: "missing on this host: systemd-nspawn, nft", advice: "systemd-container (apt)"}})
		s.PushTree("/srv/tree", tinyTree(t))
		s.sh("tar -C /srv/tree -cf /srv/tree.tar .")
		o := s.hostler("apply", s.write("nspawn_machine \"m1\" {\n rootfs { image = \"/srv/tree.tar\" }\n}\n"))
		if _, why := o.failed(); o.Code != 1 || !strings.HasPrefix(why, "machine m1: ") || !strings.Contains(why, "systemd-container") {
			t.Errorf("a machine on a host without machined: %s", o)
		}
	})
	t.Run("image-managed", func(t *testing.T) {
		t.Parallel()
		acl, err := os.ReadFile("../os-release/acl.os-release")
		if err != nil {
			t.Fatal(err)
		}
		s := settle(t, lab.Options{Variants: append(bare[:2:2], lab.NoexecTmp, lab.ReadOnlyUsr, lab.OSRelease(string(acl)))}) // with apt, which is not to be used
		recipe := strings.Replace(string(s.Pull(s.write("require_capability \"tools\" {\n"+tools+"\n}\n"))), `id = "debian"`, `id = "azurelinux"`, 1)
		s.Push("/root/acl.hcl", []byte(recipe), 0o644)
		doc, code := document[preflight](s, "preflight", "/root/acl.hcl")
		if code != 78 || len(doc.Findings) != 1 || !strings.Contains(doc.Findings[0].Advice, "system extension") || strings.Contains(doc.Findings[0].Advice, "apt") {
			t.Errorf("preflight: %d, %+v", code, doc)
		}
		s.Push("/etc/os-release", []byte("ID=debian\nVERSION_ID=12\n"), 0o644)
		s.probeAll("", []probe{
			{name: "usr", body: `writable = "/usr/local/hostler"`, status: "error", summary: "/usr is mounted read-only", advice: "--prefix"},
			{name: "opt", body: `writable = "/opt/hostler/bin"`},
			{name: "tmp", body: `executable_from = "/tmp/hostler"`, status: "error", summary: "/tmp is mounted noexec"},
			{name: "opt_exec", body: `executable_from = "/opt/hostler"`},
			{name: "tools", body: tools, status: "error", summary: "systemd-nspawn", advice: "system extension"},
		})
	})
}

// tinyTree is a directory with what systemd-nspawn asks of a root.
func tinyTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, err := range []error{
		os.Chmod(dir, 0o755), os.MkdirAll(dir+"/etc", 0o755), os.MkdirAll(dir+"/usr/bin", 0o755),
		os.WriteFile(dir+"/etc/os-release", []byte("ID=tiny\n"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
