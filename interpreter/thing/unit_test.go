package thing_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
)

var background = context.Background()

const (
	etc     = unitfile.EtcDir
	vendor  = "/usr/lib/systemd/system/"
	service = "[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\nAlias=al.service\nAlso=b.socket\n"
	socket  = "[Socket]\nListenStream=/run/b\n[Install]\nWantedBy=sockets.target\n"
)

// link puts links there.
func link(t *testing.T, h host.Host, links unitfile.Links) {
	t.Helper()
	for file, target := range links {
		if err := unitfile.Carry(h.Files, []unitfile.LinkOp{{Path: file, Target: target}}); err != nil {
			t.Fatal(err)
		}
	}
}

func enabled(t *testing.T, h host.Host, u thing.UnitEnabled) thing.State {
	t.Helper()
	state, err := u.Look(background, h.View())
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func TestUnitEnabledLook(t *testing.T) {
	h := memory.New(memory.Options{Offline: true, Files: map[string]memory.File{vendor + "a.service": {Content: service}, vendor + "b.socket": {Content: socket}}}).Host()
	u := thing.UnitEnabled{Unit: "a.service"}
	if u.Key() != "unit-enabled:a.service" {
		t.Errorf("key %s", u.Key())
	}
	if s := enabled(t, h, u); s.Kind != thing.Absent || s.Value != thing.Disabled || s.Links != nil {
		t.Errorf("before: %+v", s)
	}
	all := unitfile.Links{
		etc + "/multi-user.target.wants/a.service": vendor + "a.service",
		etc + "/sockets.target.wants/b.socket":     "../../../../usr/lib/systemd/system/b.socket",
		etc + "/al.service":                        vendor + "a.service",
	}
	link(t, h, all)
	if s := enabled(t, h, u); s.Kind != thing.Present || s.Value != thing.Enabled || !maps.Equal(s.Links, all) {
		t.Errorf("enabled: %+v", s)
	}
	link(t, h, unitfile.Links{etc + "/a.service": unitfile.MaskTarget})
	if s := enabled(t, h, u); s.Value != thing.Masked || s.Links[etc+"/a.service"] != unitfile.MaskTarget {
		t.Errorf("masked: %+v", s)
	}
	if s := enabled(t, h, thing.UnitEnabled{Unit: "gone.service", With: []string{"b.socket"}}); len(s.Links) != 1 {
		t.Errorf("of units named beside: %+v", s)
	}
	if _, err := (thing.UnitEnabled{Unit: "nonsense"}).Look(background, h.View()); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("a bad name: %v", err)
	}
}

// TestUnitEnabledPutBack: exactly the saved links come back, ours go, also
// those whose target is not there.
func TestUnitEnabledPutBack(t *testing.T) {
	former := unitfile.Links{etc + "/old.target.wants/a.service": "/gone/a.service", etc + "/a.service": unitfile.MaskTarget}
	ours := unitfile.Links{etc + "/multi-user.target.wants/a.service": vendor + "a.service", etc + "/al.service": vendor + "a.service"}
	cases := map[string]struct {
		origin thing.Origin
		want   unitfile.Links
	}{
		"absent":       {thing.Origin{Kind: thing.OriginAbsent}, nil},
		"saved":        {thing.Origin{Kind: thing.OriginSaved, State: &thing.State{Kind: thing.Present, Links: former}}, former},
		"saved, empty": {thing.Origin{Kind: thing.OriginSaved}, nil},
		"adopted":      {thing.Origin{Kind: thing.OriginAdopted}, ours},
		"untouched":    {thing.Origin{}, ours},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := memory.New(memory.Options{Offline: true, Files: map[string]memory.File{vendor + "a.service": {Content: service}}}).Host()
			u := thing.UnitEnabled{Unit: "a.service"}
			link(t, h, ours)
			for range 2 {
				if err := u.PutBack(background, h, c.origin, nil); err != nil {
					t.Fatal(err)
				}
				if s := enabled(t, h, u); !maps.Equal(s.Links, c.want) && len(s.Links)+len(c.want) > 0 {
					t.Errorf("links %v, want %v", s.Links, c.want)
				}
			}
		})
	}
	h := memory.New(memory.Options{Offline: true}).Host()
	err := thing.UnitEnabled{Unit: "a.service"}.PutBack(background, h, thing.Origin{Kind: "newer"}, nil)
	if err == nil || !strings.Contains(err.Error(), "a.service") {
		t.Errorf("an origin of a newer version: %v", err)
	}
}

func withUnits(units ...memory.Unit) host.Host {
	return memory.New(memory.Options{Units: units}).Host()
}

func TestUnitActive(t *testing.T) {
	h := withUnits(memory.Unit{Name: "a.service", Running: true}, memory.Unit{Name: "i.service"})
	for unit, want := range map[thing.UnitActive]thing.State{
		"a.service":    {Kind: thing.Present, Value: thing.Active},
		"i.service":    {Kind: thing.Absent, Value: thing.Inactive},
		"gone.service": {Kind: thing.Absent, Value: thing.Inactive},
	} {
		if got, err := unit.Look(background, h.View()); err != nil || !got.Same(want) {
			t.Errorf("%s: %+v, %v, want %+v", unit, got, err, want)
		}
	}
	if thing.UnitActive("a.service").Key() != "unit-active:a.service" {
		t.Error("key")
	}
	if _, err := thing.UnitActive("no name").Look(background, h.View()); err == nil || !strings.Contains(err.Error(), "no name") {
		t.Errorf("a bad name: %v", err)
	}
}

// TestUnitActiveAtRest: without a manager the next boot is foreseen.
func TestUnitActiveAtRest(t *testing.T) {
	h := memory.New(memory.Options{Offline: true, Units: []memory.Unit{{Name: "on.service", Enabled: true}, {Name: "off.service"}}}).Host()
	for unit, want := range map[thing.UnitActive]string{"on.service": thing.Active, "off.service": thing.Inactive, "gone.service": thing.Inactive} {
		if got, err := unit.Look(background, h.View()); err != nil || got.Value != want {
			t.Errorf("%s: %+v, %v, want %s", unit, got, err, want)
		}
		if err := unit.PutBack(background, h, thing.Origin{Kind: thing.OriginAbsent}, nil); err != nil {
			t.Errorf("%s: %v", unit, err)
		}
	}
	link(t, h, unitfile.Links{etc + "/on.service": unitfile.MaskTarget})
	if got, err := thing.UnitActive("on.service").Look(background, h.View()); err != nil || got.Value != thing.Inactive {
		t.Errorf("masked: %+v, %v", got, err)
	}
}

func TestUnitActivePutBack(t *testing.T) {
	saved := func(value string) thing.Origin {
		return thing.Origin{Kind: thing.OriginSaved, State: &thing.State{Kind: thing.Present, Value: value}}
	}
	for name, c := range map[string]struct {
		running bool
		origin  thing.Origin
		want    bool
	}{
		"stops":             {true, thing.Origin{Kind: thing.OriginAbsent}, false},
		"starts":            {false, saved(thing.Active), true},
		"stays up":          {true, saved(thing.Active), true},
		"stays down":        {false, thing.Origin{Kind: thing.OriginAbsent}, false},
		"saved as inactive": {true, saved(thing.Inactive), false},
		"adopted":           {true, thing.Origin{Kind: thing.OriginAdopted}, true},
		"not touched":       {true, thing.Origin{}, true},
	} {
		h := withUnits(memory.Unit{Name: "a.service", Running: c.running})
		if err := thing.UnitActive("a.service").PutBack(background, h, c.origin, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if u, err := h.Units.Unit(background, "a.service"); err != nil || u.Running() != c.want {
			t.Errorf("%s: running %v, %v", name, u.Running(), err)
		}
	}
	h := withUnits()
	if err := thing.UnitActive("gone.service").PutBack(background, h, thing.Origin{Kind: thing.OriginAbsent}, nil); err != nil {
		t.Errorf("a unit that is not there is stopped: %v", err)
	}
	if err := thing.UnitActive("gone.service").PutBack(background, h, saved(thing.Active), nil); !errors.Is(err, host.ErrNoUnit) {
		t.Errorf("one that is not there cannot be started: %v", err)
	}
	if err := thing.UnitActive("a.service").PutBack(background, h, thing.Origin{Kind: "newer"}, nil); err == nil {
		t.Error("an origin of a newer version must be an error")
	}
}

// refusing fails every job.
type refusing struct{ host.Units }

func (refusing) Run(context.Context, host.JobVerb, string) error { return errors.New("denied") }

func TestR132StopFails(t *testing.T) {
	h := withUnits(memory.Unit{Name: "a.service", Running: true})
	h.Units = refusing{h.Units}
	err := thing.UnitActive("a.service").PutBack(background, h, thing.Origin{Kind: thing.OriginAbsent}, nil)
	if err == nil || !strings.Contains(err.Error(), "stop of a.service: denied") {
		t.Errorf("error %v", err)
	}
}

func TestRanNotes(t *testing.T) {
	m := memory.New(memory.Options{})
	h := m.Host()
	noted := func() bool {
		ran, err := thing.NotedRan(background, h.View(), "a.service")
		if err != nil {
			t.Fatal(err)
		}
		return ran
	}
	if noted() {
		t.Error("noted before it ran")
	}
	for range 2 {
		if err := thing.NoteRan(background, h, "a.service"); err != nil || !noted() {
			t.Fatalf("not noted: %v", err)
		}
	}
	m.Reboot()
	if h = m.Host(); noted() {
		t.Error("the note outlives a boot")
	}
	for _, unit := range []string{"a.service", "b.service"} {
		if err := thing.NoteRan(background, h, unit); err != nil {
			t.Fatal(err)
		}
	}
	for _, unit := range []string{"a.service", "b.service", "b.service"} {
		if err := thing.ForgetRan(t.Context(), h, unit); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := host.Lstat(h.Files, "/run/hostler"); !host.Absent(err) {
		t.Errorf("directories are left: %v", err)
	}
}
