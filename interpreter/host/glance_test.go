package host_test

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

// counted counts what is asked of a view.
type counted struct {
	host.FileView
	asked int
}

func (c *counted) Open(name string) (afero.File, error) {
	c.asked++
	return c.FileView.Open(name)
}

func (c *counted) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	c.asked++
	return c.FileView.LstatIfPossible(name)
}

func (c *counted) ReadlinkIfPossible(name string) (string, error) {
	c.asked++
	return c.FileView.ReadlinkIfPossible(name)
}

// TestGlanceTellsWhatIsThere holds a glance to what the view itself says, twice,
// and that the second time nothing is asked.
func TestGlanceTellsWhatIsThere(t *testing.T) {
	files := memory.New(memory.Options{Files: map[string]memory.File{
		"/etc/units/a.service":      {Content: "[Unit]\n"},
		"/etc/units/b.service":      {Link: "a.service"},
		"/etc/units/x.wants/a":      {Link: "../a.service"},
		"/etc/unitsmore/c.service":  {Content: ""},
		"/elsewhere/d.service":      {Content: ""},
		"/etc/units/linked":         {Link: "/elsewhere"},
		"/etc/units/empty/.d/x.tmp": {Content: ""},
	}}).Host().Files
	view := &counted{FileView: files}
	g := host.NewGlance(view, "/etc/units", "/run/units", "/lib")
	names := []string{
		"/etc/units", "/etc/units/a.service", "/etc/units/b.service", "/etc/units/none", "/etc/units/none.d/x", "/etc/units/x.wants", "/etc/units/x.wants/a",
		"/etc/units/x.wants/none", "/etc/units/a.service/below", "/etc/units/linked", "/etc/units/linked/d.service", "/etc/units/linked/none",
		"/run/units", "/run/units/none/none", "/etc/units/../units/a.service", "/etc/unitsmore/c.service", "/etc/unitsmore/none", "/lib",
	}
	for round := range 2 {
		for _, name := range names {
			sameLook(t, files, g, name)
		}
		if round == 1 {
			break
		}
		before := view.asked
		for _, name := range names[:14] {
			_, _ = host.Lstat(g, name)
			_, _ = host.Names(g, name)
		}
		if view.asked != before {
			t.Errorf("the second look asked %d times", view.asked-before)
		}
	}
}

func sameLook(t *testing.T, files, g host.FileView, name string) {
	t.Helper()
	want, wantErr := host.Lstat(files, name)
	got, err := host.Lstat(g, name)
	if host.Absent(err) != host.Absent(wantErr) || (err == nil) != (wantErr == nil) {
		t.Fatalf("%s: %v, want %v", name, err, wantErr)
	}
	if err == nil && (got.Mode() != want.Mode() || got.Size() != want.Size()) {
		t.Errorf("%s: %v %d, want %v %d", name, got.Mode(), got.Size(), want.Mode(), want.Size())
	}
	target, err := g.ReadlinkIfPossible(name)
	if wanted, _ := files.ReadlinkIfPossible(name); target != wanted {
		t.Errorf("%s leads to %q, want %q (%v)", name, target, wanted, err)
	}
	wantNames, wantErr := host.Names(files, name)
	gotNames, err := host.Names(g, name)
	slices.Sort(wantNames)
	slices.Sort(gotNames)
	if !slices.Equal(gotNames, wantNames) || host.Absent(err) != host.Absent(wantErr) {
		t.Errorf("in %s are %q (%v), want %q (%v)", name, gotNames, err, wantNames, wantErr)
	}
	if len(gotNames) > 0 {
		gotNames[0] = "spoiled by the caller"
	}
	f, err := g.Open(name)
	if _, wantErr := files.Open(name); host.Absent(err) != host.Absent(wantErr) {
		t.Errorf("open %s: %v, want %v", name, err, wantErr)
	}
	if err == nil {
		_ = f.Close()
	}
}

// sick refuses to look.
type sick struct{ host.FileView }

func (sick) Open(string) (afero.File, error) { return nil, syscall.EIO }
func (sick) LstatIfPossible(string) (fs.FileInfo, bool, error) {
	return nil, true, syscall.EIO
}

// TestGlancePassesFaultsOn: what cannot be looked at is never "not there", and
// is asked again.
func TestGlancePassesFaultsOn(t *testing.T) {
	files := memory.New(memory.Options{Files: map[string]memory.File{"/etc/units/a": {}}}).Host().Files
	door := &struct{ host.FileView }{sick{files}}
	g := host.NewGlance(door, "/etc/units")
	if _, err := host.Lstat(g, "/etc/units/a"); !errors.Is(err, syscall.EIO) {
		t.Errorf("lstat: %v", err)
	}
	if _, err := host.Names(g, "/etc/units"); !errors.Is(err, syscall.EIO) {
		t.Errorf("names: %v", err)
	}
	door.FileView = files
	if _, err := host.Lstat(g, "/etc/units/a"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
