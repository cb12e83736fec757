package interpreter_test

import (
	"context"
	"testing"

	"hostler/interpreter/host/memory"
)

// pair is a service that needs its socket, both running, both masked by the
// recipe; the service reads a file that the recipe edits.
const pair = `
systemd_unit "docker.socket" {
  state = "stopped"
  mask  = true
}
systemd_unit "docker.service" {
  state = "stopped"
  mask  = true
}
`

func pairHost() memory.Options {
	return memory.Options{
		Executables: []string{"dockerd"},
		Units: []memory.Unit{
			{Name: "docker.socket", Content: "[Socket]\nListenStream=/run/docker.sock\n[Install]\nWantedBy=sockets.target\n", Enabled: true, Running: true},
			{Name: "docker.service", Content: "[Unit]\nRequires=docker.socket\nAfter=docker.socket\n[Service]\nExecStart=/usr/bin/dockerd\n[Install]\nWantedBy=multi-user.target\n", Enabled: true, Running: true},
		},
	}
}

// TestForeignUnitsStartWhenAllIsBack: units that ran before us are started again
// when nothing they need is masked any more, by a reset and by a recipe that
// drops them.
func TestForeignUnitsStartWhenAllIsBack(t *testing.T) {
	runs := func(r *rig, want bool) {
		t.Helper()
		for _, name := range []string{"docker.socket", "docker.service"} {
			u, err := r.Memory.Host().Units.Unit(context.Background(), name)
			if err != nil || u.Running() != want || (u.LoadState == "masked") == want {
				t.Errorf("%s: %+v, %v", name, u, err)
			}
		}
	}
	const other = "write_file_if_changed \"x\" {\n path = \"/etc/x\"\n content = \"x\"\n}\n"
	for name, undo := range map[string]func(*rig){
		"reset":   func(r *rig) { r.must(reset, nothing) },
		"dropped": func(r *rig) { r.must(apply, a(other)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, pairHost())
			runs(r, true)
			r.must(apply, a(pair+other))
			runs(r, false)
			undo(r)
			runs(r, true)
		})
	}
}
