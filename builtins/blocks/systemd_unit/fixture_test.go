package systemdunit

import (
	"context"
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
)

// reloading is a unit door that reads unit files again before every question
// and job, as the walk does after changes.
type reloading struct{ host.Units }

func (r reloading) Unit(ctx context.Context, name string) (host.UnitState, error) {
	if err := r.Reload(ctx); err != nil {
		return host.UnitState{}, err
	}
	return r.Units.Unit(ctx, name)
}

func (r reloading) Run(ctx context.Context, verb host.JobVerb, name string) error {
	if err := r.Reload(ctx); err != nil {
		return err
	}
	return r.Units.Run(ctx, verb, name)
}

func (r reloading) Queue(ctx context.Context, verb host.JobVerb, name string) error {
	if err := r.Reload(ctx); err != nil {
		return err
	}
	return r.Units.Queue(ctx, verb, name)
}

func hostOf(m *memory.Memory) host.Host {
	h := m.Host()
	h.Units = reloading{h.Units}
	return h
}

// scene is a host with a stage on it.
type scene struct {
	*blocktest.Stage
	t *testing.T
	m *memory.Memory
}

func newScene(t *testing.T, o memory.Options) *scene {
	t.Helper()
	m := memory.New(o)
	return &scene{blocktest.NewStage(hostOf(m)), t, m}
}

func (s *scene) step(body string) block.Step { return blocktest.Step(s.t, Type(), body) }

func (s *scene) unit(name string) host.UnitState {
	s.t.Helper()
	u, err := s.Host.Units.Unit(context.Background(), name)
	if err != nil {
		s.t.Fatal(err)
	}
	return u
}

func (s *scene) read(name string) string {
	s.t.Helper()
	b, err := thing.ReadAll(s.Host.Files, name)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

func (s *scene) write(name, content string) {
	s.t.Helper()
	if err := host.MakeParents(s.Host.Files, name, 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := host.Replace(s.Host.Files, name, host.Content{Bytes: []byte(content), Mode: 0o644}); err != nil {
		s.t.Fatal(err)
	}
}

// links are the enabling links of a unit, and its mask, without the directory.
func (s *scene) links(unit string) []string {
	s.t.Helper()
	state, err := thing.UnitEnabled{Unit: unit}.Look(context.Background(), s.Host.View())
	if err != nil {
		s.t.Fatal(err)
	}
	var all []string
	for file := range state.Links {
		all = append(all, strings.TrimPrefix(file, unitfile.EtcDir+"/"))
	}
	slices.Sort(all)
	return all
}

func (s *scene) wantLinks(unit string, want ...string) {
	s.t.Helper()
	if got := s.links(unit); !slices.Equal(got, want) {
		s.t.Errorf("links of %s are %q, want %q", unit, got, want)
	}
}

// complains applies and checks a step: both must fail with the text.
func (s *scene) complains(step block.Step, text string) {
	s.t.Helper()
	_, err := s.Check(step)
	if err == nil || !strings.Contains(err.Error(), text) {
		s.t.Errorf("check: error %v, want %q", err, text)
	}
	s.fails(step, text)
}

func (s *scene) fails(step block.Step, text string) {
	s.t.Helper()
	err := s.Apply(step)
	if err == nil || !strings.Contains(err.Error(), text) {
		s.t.Errorf("apply: error %v, want %q", err, text)
	}
}

const (
	plain    = "[Service]\nExecStart=/usr/bin/sleep infinity\n"
	wanted   = plain + "[Install]\nWantedBy=multi-user.target\n"
	heredoc  = "content = <<-EOT\n[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\nEOT\n"
	foreign  = "/usr/lib/systemd/system/f.service"
	ownUnit  = unitfile.EtcDir + "/a.service"
	dropFile = unitfile.EtcDir + "/f.service.d/10-x.conf"
)

func withForeign(running bool) memory.Options {
	return memory.Options{Units: []memory.Unit{{Name: "f.service", Content: wanted, Running: running}}}
}
