package thing_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

type files = map[string]memory.File

// shelf is a Keeper of one file.
type shelf struct {
	kept  string
	bytes []byte
	err   error
}

func (s *shelf) Keep(_ context.Context, h host.Host, _ thing.Key, path string, _ thing.State) (string, error) {
	s.kept = path
	var err error
	s.bytes, err = thing.ReadAll(h.Files, path)
	return "1", err
}

func (s *shelf) Restore(_ context.Context, h host.Host, backup, path string) error {
	if s.err != nil {
		return s.err
	}
	return host.Replace(h.Files, path, host.Content{Bytes: s.bytes, Mode: 0o640, UID: 3})
}

func look(t *testing.T, h host.Host, th thing.Thing) thing.State {
	t.Helper()
	s, err := th.Look(t.Context(), h.View())
	if err != nil {
		t.Fatalf("look at %s: %v", th.Key(), err)
	}
	return s
}

func TestSaveKeepsWhatTheStateDoesNotSay(t *testing.T) {
	h := memory.New(memory.Options{Files: files{
		"/a": {Content: "a"}, "/link": {Link: "a"}, "/dir": {Dir: true},
	}}).Host()
	for _, c := range []struct {
		thing thing.Thing
		kept  string
	}{
		{thing.Path("/a"), "/a"},
		{thing.Path("/absent"), ""},
		{thing.Dir("/dir"), ""},
		{thing.Through{Path: "/link", Follow: true}, "/a"},
		{thing.Residue{Subject: thing.ResiduePath, Name: "/a"}, ""},
	} {
		s := &shelf{}
		backup, err := thing.Save(t.Context(), h, s, c.thing, c.thing.Key(), look(t, h, c.thing))
		if err != nil || s.kept != c.kept || (backup != "") != (c.kept != "") {
			t.Errorf("%s: kept %q as %q (%v)", c.thing.Key(), s.kept, backup, err)
		}
	}
	if !thing.NeedsKeep(thing.Tree("/dir"), look(t, h, thing.Tree("/dir"))) || thing.NeedsKeep(thing.Path("/dir"), thing.State{Kind: thing.Directory}) {
		t.Error("a tree is kept whole, a directory by itself is not")
	}
	_, err := thing.Save(t.Context(), h, &shelf{}, thing.Path("/dev/x"), "path:/dev/x", thing.State{Kind: thing.Other})
	if err == nil || !strings.Contains(err.Error(), "path:/dev/x is a device") {
		t.Error(err)
	}
}

func TestPutBackByOrigin(t *testing.T) {
	saved := func(s thing.State) thing.Origin { return thing.Origin{Kind: thing.OriginSaved, State: &s, Backup: "1"} }
	dir := thing.State{Kind: thing.Directory, Mode: "0700", UID: 4}
	for name, c := range map[string]struct {
		thing  thing.Thing
		origin thing.Origin
		want   thing.State
		err    string
	}{
		"tree, absent: stays":         {thing.Tree("/x/f"), thing.Origin{Kind: thing.OriginAbsent}, thing.State{Kind: thing.File}, ""},
		"tree, saved":                 {thing.Tree("/x/f"), saved(thing.State{Kind: thing.File}), thing.State{Kind: thing.File, Mode: "0640", UID: 3}, ""},
		"dir, absent: file goes":      {thing.Dir("/x/f"), thing.Origin{Kind: thing.OriginAbsent}, thing.State{Kind: thing.Absent}, ""},
		"dir, absent: empty goes":     {thing.Dir("/x/empty"), thing.Origin{Kind: thing.OriginAbsent}, thing.State{Kind: thing.Absent}, ""},
		"dir, absent: gone already":   {thing.Dir("/x/gone"), thing.Origin{Kind: thing.OriginAbsent}, thing.State{Kind: thing.Absent}, ""},
		"dir, absent: filled":         {thing.Dir("/x"), thing.Origin{Kind: thing.OriginAbsent}, thing.State{Kind: thing.Directory}, "/x is not empty: it holds empty, f"},
		"dir, saved":                  {thing.Dir("/x"), saved(dir), dir, ""},
		"dir, saved: made again":      {thing.Dir("/x/gone"), saved(dir), dir, ""},
		"dir, saved: was a file":      {thing.Dir("/x/f"), saved(thing.State{Kind: thing.File}), thing.State{Kind: thing.File, Mode: "0640"}, ""},
		"dir, saved: a broken record": {thing.Dir("/x"), saved(thing.State{Kind: thing.Directory, Mode: "rw"}), thing.State{Kind: thing.Directory}, `"rw" is no mode`},
		"dir, adopted":                {thing.Dir("/x"), thing.Origin{Kind: thing.OriginAdopted}, thing.State{Kind: thing.Directory, Mode: "0755"}, ""},
		"through, absent":             {thing.Through{Path: "/x/f"}, thing.Origin{Kind: thing.OriginAbsent}, thing.State{Kind: thing.Absent}, ""},
		"through, in place, no mount": {thing.Through{Path: "/x/f", InPlace: true}, saved(thing.State{Kind: thing.File}), thing.State{Kind: thing.File, Mode: "0640"}, ""},
	} {
		h := memory.New(memory.Options{Files: files{"/x/f": {Content: "f"}, "/x/empty": {Dir: true}}}).Host()
		err := c.thing.PutBack(t.Context(), h, c.origin, &shelf{bytes: []byte("kept")})
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
		got := look(t, h, c.thing)
		if got.Kind != c.want.Kind || c.want.Mode != "" && got.Mode != c.want.Mode || c.want.UID != 0 && got.UID != c.want.UID {
			t.Errorf("%s: now %+v", name, got)
		}
	}
}

func TestThroughAMountPoint(t *testing.T) {
	h := memory.New(memory.Options{Files: files{"/etc/hosts": {Content: "new"}}, BindFiles: []string{"/etc/hosts"}}).Host()
	s := &shelf{bytes: []byte("kept")}
	o := thing.Origin{Kind: thing.OriginSaved, State: &thing.State{Kind: thing.File}, Backup: "1"}
	if err := (thing.Through{Path: "/etc/hosts"}).PutBack(t.Context(), h, o, s); err == nil {
		t.Error("a mount point was replaced")
	}
	if err := (thing.Through{Path: "/etc/hosts", InPlace: true}).PutBack(t.Context(), h, o, s); err != nil {
		t.Fatal(err)
	}
	if got := look(t, h, thing.Path("/etc/hosts")); got.Digest != thing.Digest([]byte("kept")) || got.Mode != "0640" || got.UID != 3 {
		t.Errorf("put back in place: %+v", got)
	}
	broken := &shelf{err: errors.New("no shelf")}
	if err := (thing.Through{Path: "/etc/hosts", InPlace: true}).PutBack(t.Context(), h, o, broken); err == nil {
		t.Error("a broken keeper is no error")
	}
	if _, err := thing.Kept(t.Context(), h, broken, "1", "/etc/hosts"); err == nil {
		t.Error("a broken keeper is no error")
	}
}

func TestFollowLinks(t *testing.T) {
	h := memory.New(memory.Options{Files: files{
		"/a/one": {Link: "two"}, "/a/two": {Link: "/b/three"}, "/b/three": {Content: "x"},
		"/deep/dir/real": {Content: "x"}, "/short": {Link: "deep/dir"}, "/deep/dir/up": {Link: "../side"}, "/deep/side": {Content: "y"},
		"/loop": {Link: "pool"}, "/pool": {Link: "loop"}, "/dangling": {Link: "nowhere/at/all"}, "/out": {Link: "../../../etc/x"},
	}}).Host()
	for name, want := range map[string]string{
		"/a/one": "/b/three", "/b/three": "/b/three", "/short/up": "/deep/side", "/dangling": "/nowhere/at/all",
		"/not/there": "/not/there", "/out": "/etc/x", "/loop": "",
	} {
		got, err := thing.FollowLinks(h.Files, name)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s leads to %q (%v), want %q", name, got, err, want)
		}
	}
}

func TestRemoveTree(t *testing.T) {
	h := memory.New(memory.Options{
		Files:  files{"/x/a/b": {Content: "b"}, "/x/link": {Link: "/y"}, "/y/stays": {}, "/m/in/a": {}, "/m/in/mnt/x": {}},
		Mounts: []memory.Mount{{Point: "/m/in/mnt"}},
	}).Host()
	for _, name := range []string{"/x", "/x", "/not/there"} {
		if err := thing.RemoveTree(t.Context(), h, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := host.Lstat(h.Files, "/y/stays"); err != nil {
		t.Error(err)
	}
	if err := thing.RemoveTree(t.Context(), h, "/m"); err == nil || !strings.Contains(err.Error(), "/m/in/mnt is a mount point") {
		t.Error(err)
	}
	if _, err := host.Lstat(h.Files, "/m/in/a"); err != nil {
		t.Errorf("it began before it refused: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := thing.RemoveTree(ctx, h, "/y"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// An offline root cannot list mounts; another device gives one away.
func TestMountWithinByDevice(t *testing.T) {
	h := memory.New(memory.Options{
		Offline: true, Files: files{"/x/a/mnt/f": {}, "/x/b": {}}, Mounts: []memory.Mount{{Point: "/x/a/mnt"}},
	}).Host()
	for name, want := range map[string]string{"/x": "/x/a/mnt", "/x/a/mnt": "/x/a/mnt", "/x/b": "", "/x/none": "", "/none/none": ""} {
		if got, err := thing.MountWithin(t.Context(), h.View(), name); err != nil || got != want {
			t.Errorf("%s: %q (%v), want %q", name, got, err, want)
		}
	}
}
