package lint_test

import (
	"slices"
	"testing"

	"hostler/interpreter/lint"
)

const unitRecipe = `
variable "ip" {
  type = string
}
variable "lines" {
  type = string
}
systemd_unit "a.service" {
  content = <<-EOT
    [Unit]
    After=x.service y.service
    After=
    After="z.service"

    [Service]
    ExecStart=-/usr/bin/a --ip ${var.ip} ; /usr/bin/b
    Restart=no
  EOT
  drop_in "10-x.conf" {
    content = "[Service]\nRestart=always\n"
  }
  state   = "started"
  restart = "never"
}
systemd_unit "b.service" {
  content = <<-EOT
    [Service]
    ${var.lines}
    ExecStart=/usr/bin/b
  EOT
}
systemd_unit "foreign.service" {
  drop_in "10-x.conf" {
    content = "[Service]\nNice=1\n"
  }
}
systemd_unit "asset" {
  name   = "asset.socket"
  source = "files/asset.socket"
}
write_file_if_changed "plain" {
  path    = "/etc/systemd/system/plain.timer"
  content = "[Timer]\nOnBootSec=1\n"
}
write_file_if_changed "none" {
  path    = "/etc/systemd/system.conf"
  content = "[Manager]\n"
}
`

func TestUnits(t *testing.T) {
	f := files{"recipe.hcl": unitRecipe, "files/asset.socket": "[Socket]\nListenStream=1\n"}
	look(t, f, func(p *lint.Pass) {
		var names []string
		closed := map[string]bool{}
		for _, u := range p.Units() {
			names = append(names, u.Text)
			closed[u.Text] = u.Closed()
		}
		if want := []string{"a.service", "b.service", "foreign.service", "asset.socket", "plain.timer"}; !slices.Equal(names, want) {
			t.Fatalf("%q", names)
		}
		for name, want := range map[string]bool{"a.service": true, "b.service": false, "foreign.service": false, "asset.socket": true, "plain.timer": true} {
			if closed[name] != want {
				t.Errorf("%s closed: %v", name, closed[name])
			}
		}
		a := p.Units()[0]
		if got := a.Words("Unit", "After"); !slices.Equal(got, []string{"z.service"}) {
			t.Errorf("After %q", got)
		}
		if a.Value("Service", "Restart") != "always" || !a.Starts() || !a.IsService() {
			t.Errorf("restart %q, starts %v", a.Value("Service", "Restart"), a.Starts())
		}
		commands := a.Commands()
		if len(commands) != 2 || commands[0].Prefixes != "-" || commands[1].Argv[0] != "/usr/bin/b" || commands[0].Known() {
			t.Errorf("%+v", commands)
		}
		if got := p.Source(commands[1].Find("/usr/bin/b")); got != "/usr/bin/b" {
			t.Errorf("the second command is at %q", got)
		}
		socket := p.Units()[3]
		line, _ := socket.Last("Socket", "ListenStream")
		if r := line.KeyRange(); r.Filename != "files/asset.socket" || r.Start.Line != 2 || r.Start.Column != 1 || r.End.Column != 13 {
			t.Errorf("%+v", r)
		}
		if r := socket.Main("Nothing"); r != socket.Step.Header {
			t.Errorf("%+v", r)
		}
	})
}

func TestWritten(t *testing.T) {
	f := files{"recipe.hcl": `
variable "name" {
  type = string
}
write_file_if_changed "a" {
  path    = "/etc/a"
  content = "x\n"
}
write_file_if_changed "b" {
  path    = "/etc/${var.name}"
  mode    = "0600"
  content = "x\n"
}
systemd_unit "c.service" {
  content = "[Service]\nExecStart=/usr/bin/c\n"
}
nspawn_machine "m" {
  name = "kube1"
  rootfs {
    image = "r.example/a:1"
  }
  before_boot {
    directory "d" {
      path = "/etc/d"
    }
  }
}
`}
	look(t, f, func(p *lint.Pass) {
		var got []string
		for _, w := range p.Written() {
			got = append(got, w.Path+" "+w.Step.Machine)
		}
		if want := []string{"/etc/a ", "/etc/systemd/system/c.service ", "/etc/d kube1"}; !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		if mode, ok := p.Files()[0].Mode(); !ok || mode != 0o644 {
			t.Errorf("the default mode is %o", mode)
		}
		d := p.Steps("directory")[0]
		if d.Part != "before_boot" || !d.Inside || d.Owner == nil || d.Owner.Name() != "kube1" || lint.SamePlace(d, p.Steps()[0]) {
			t.Errorf("%+v", d)
		}
	})
	if !lint.Below("/etc/a/b", "/etc/a") || lint.Below("/etc/ab", "/etc/a") || lint.Below("/etc/a", "/etc/a") || !lint.Below("/x", "/") {
		t.Error("Below")
	}
}
