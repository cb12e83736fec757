package interpreter_test

import (
	"net/http"
	"strings"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

// preparation is the host of a recipe made ready, with every block that changes
// more than files.
const preparation = `
kernel_module "br_netfilter" {}
sysctl "forwarding" {
  path   = "/etc/sysctl.d/90-demo.conf"
  values = { "net.ipv4.ip_forward" = 1, "vm.swappiness" = 0 }
}
swap "off" {}
edit_lines "umask" {
  path = "/etc/login.defs"
  ensure { line = "UMASK 027" }
}
mount "scratch" {
  what  = "tmpfs"
  where = "/run/scratch"
  type  = "tmpfs"
}
tmpfiles "demo" {
  path = "/etc/tmpfiles.d/demo.conf"
  entry {
    type = "d"
    path = "/run/demo"
  }
}
accounts "web" {
  path = "/etc/sysusers.d/web.conf"
  user "web" {}
}
directory "web" {
  path  = "/var/lib/web"
  owner = "web"
}
network_link "localdns" { addresses = ["169.254.10.10/32"] }
ip_rule "demo" {
  table    = 51850
  priority = 100
}
ip_route "demo" {
  table = 51850
  to    = "10.9.0.0/16"
  link  = "localdns"
}
download "tool" {
  url     = "https://dl.example/tool"
  mutable = true
  path    = "/usr/local/bin/tool"
}
nft_ruleset "flush" {
  path     = "/etc/hostler/flush.nft"
  content  = "flush ruleset\n"
  machines = ["kube1"]
}
credential "token" {
  value   = "abc"
  encrypt = false
}
`

// appendLine is what programs that manage accounts do.
func appendLine(t testing.TB, h host.Host, file, line string) {
	b, err := thing.ReadAll(h.Files, file)
	if err == nil && !strings.Contains(string(b), line) {
		err = host.Replace(h.Files, file, host.Content{Bytes: append(b, line+"\n"...), Mode: 0o644})
	}
	if err != nil {
		t.Error(err)
	}
}

func preparationHost(t testing.TB) memory.Options {
	return memory.Options{
		Executables: []string{"apt-get", "systemd-tmpfiles", "systemd-sysusers", "nft", "test"},
		Files: map[string]memory.File{
			"/etc/fstab":  {Content: "UUID=1 / ext4 defaults 0 1\n/dev/sda2 none swap sw 0 0\n"},
			"/etc/passwd": {Content: "root:x:0:0::/:/bin/sh\n"}, "/etc/group": {Content: "root:x:0:\n"}, "/etc/shadow": {Content: "root:*::\n"},
		},
		Kernel: memory.Kernel{
			Swaps: []string{"/dev/sda2"}, Modules: map[string]bool{"br_netfilter": false},
			Sysctl: map[string]string{"net.ipv4.ip_forward": "0", "vm.swappiness": "60"},
		},
		Network: memory.Network{HTTP: map[string]http.Handler{"dl.example": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if _, err := w.Write([]byte("tool")); err != nil {
				t.Error(err)
			}
		})}},
		Programs: map[string]memory.Program{
			"systemd-tmpfiles": func(i memory.Invocation) host.CommandResult {
				if _, err := i.Host.Files.Stat("/run/demo"); host.Absent(err) {
					if err := host.MakeDir(i.Host.Files, "/run/demo", host.Access{Mode: 0o755}); err != nil {
						t.Error(err)
					}
				}
				return host.CommandResult{}
			},
			"systemd-sysusers": func(i memory.Invocation) host.CommandResult {
				appendLine(t, i.Host, "/etc/shadow", "web:!::")
				appendLine(t, i.Host, "/etc/passwd", "web:x:900:900::/:/bin/sh")
				appendLine(t, i.Host, "/etc/group", "web:x:900:")
				return host.CommandResult{}
			},
		},
	}
}

// TestPreparation holds host preparation to the laws, and lets it go wrong at a
// sample of its effects.
func TestPreparation(t *testing.T) {
	s := scenario{name: "preparation", opts: preparationHost, v1: a(preparation), crash: 11, power: 37, errno: 61}
	t.Run("laws", func(t *testing.T) {
		r := s.rig(t)
		r.planned(s.v1)
		r.quiet(s.v1)
		r.must(plan, s.v1)
		r.must(reset, nothing)
		r.same(r.Before)
	})
	t.Run("every effect", func(t *testing.T) {
		m := s.misery(t)
		m.Apply(t.Context())
		m.Reset(t.Context())
	})
}
