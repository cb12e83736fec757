package walk_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// outside says whether an effect is one on the host and not on the memory of
// the installation.
func outside(e fault.Effect) bool {
	return !strings.HasPrefix(e.Name, record.Dir) && !strings.HasPrefix(e.Name, "/run/hostler") && e.Name != "/var/lib" && e.Name != "/run"
}

// TestR001RecordFirst: before the first effect on the host the durable record
// names everything that may be touched, with what was there before.
func TestR001RecordFirst(t *testing.T) {
	s := newScene(t, memory.Options{Files: map[string]memory.File{"/etc/b": {Content: "theirs", Mode: 0o600}}})
	body := file("a", "/etc/new/a", "1", "") + file("b", "/etc/b", "2", "replaces_foreign = true\n") + service("c.service", "3", "")
	var seen *record.Record
	s.plan = fault.HookAt(1, func(fault.Effect) { seen = s.copy() }).Only(outside)
	s.drive(body)
	if seen == nil {
		t.Fatal("there was no effect")
	}
	for key, want := range map[thing.Key]string{
		"dir:/etc/new": "absent", "path:/etc/new/a": "absent", "path:/etc/b": "saved", "path:/etc/systemd/system/c.service": "absent", "unit-active:c.service": "absent",
	} {
		if c := seen.Claim(key); c == nil || c.Origin.Kind != want {
			t.Errorf("%s: %+v, want origin %s", key, c, want)
		}
	}
	if o := seen.Claim("path:/etc/b").Origin; o.State.Mode != "0600" || o.State.Digest != thing.Digest([]byte("theirs")) {
		t.Errorf("origin %+v", o)
	}
	s.PowerLoss(memory.LoseMost)
	if got := s.copy(); len(got.Claims) != len(s.rec.Claims) {
		t.Error("the record was not durable")
	}
}

// TestR003NoProgress: wherever a run stops, the record says the same but for
// origins: it never tells how far the work got.
func TestR003NoProgress(t *testing.T) {
	body := "stage \"first\" {\n" + file("a", "/etc/a", "1", "") + "}\nstage \"second\" {\n" + file("b", "/etc/b", "2", "") + file("c", "/etc/c", "3", "") + "}\n"
	s := newScene(t, memory.Options{})
	s.drive(body)
	var texts []string
	for _, n := range []int{1, 9, 17} {
		s := newScene(t, memory.Options{})
		s.plan = fault.FailAt(n, syscall.EIO).Only(outside)
		s.fails(body)
		raw, err := json.Marshal(s.copy())
		s.ok(err)
		texts = append(texts, string(raw))
	}
	for _, text := range texts {
		if text != texts[0] {
			t.Errorf("the record tells how far the run got:\n%s\n%s", texts[0], text)
		}
		if strings.Contains(text, "first") || strings.Contains(text, "second") {
			t.Errorf("the record names a stage: %s", text)
		}
	}
}

// TestFirstOriginWins: what was there before the first attempt comes back, not
// what an attempt left.
func TestFirstOriginWins(t *testing.T) {
	s := newScene(t, memory.Options{Files: map[string]memory.File{"/etc/a": {Content: "theirs"}}})
	before := s.Snapshot("/run", record.Dir)
	foreign := "replaces_foreign = true\n"
	s.plan = fault.FailAt(1, syscall.ENOSPC).Only(func(e fault.Effect) bool { return strings.HasPrefix(e.Name, "/etc/.b") })
	s.fails(file("a", "/etc/a", "one", foreign)+file("b", "/etc/b", "b", ""), "no space left")
	s.want("/etc/a", "one")
	s.restart()
	s.plan = fault.FailAt(1, syscall.ENOSPC).Only(func(e fault.Effect) bool { return strings.HasPrefix(e.Name, "/etc/.b") })
	s.fails(file("a", "/etc/a", "two", foreign) + file("b", "/etc/b", "b", ""))
	s.want("/etc/a", "two")
	s.restart()
	s.drive(file("a", "/etc/a", "three", foreign) + file("b", "/etc/b", "b", ""))
	s.mustReset()
	if diff := memory.Difference(before, s.Snapshot("/run", record.Dir)); len(diff) > 0 {
		t.Errorf("after a reset: %v", diff)
	}
}

// TestIdenticalOriginal: a foreign file that equals the recipe is an original
// too, with its mode and time, whether or not a step had to do anything.
func TestIdenticalOriginal(t *testing.T) {
	for name, more := range map[string]string{"alone": "", "among others": file("other", "/etc/other", "x", "")} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, memory.Options{Files: map[string]memory.File{"/etc/a": {Content: "same", Mode: 0o644}}})
			before := s.Snapshot("/run", record.Dir)
			s.drive(file("a", "/etc/a", "same", "") + more)
			in := s.input(s.host())
			in.Desired = s.applied
			s.ok(walk.Capture(background, in))
			s.ok(in.Store.Save(background, s.rec))
			if o := s.copy().Claim("path:/etc/a").Origin; o.Kind != thing.OriginSaved {
				t.Fatalf("origin %+v", o)
			}
			s.drive(file("a", "/etc/a", "changed", "") + more)
			s.want("/etc/a", "changed")
			s.mustReset()
			if diff := memory.Difference(before, s.Snapshot("/run", record.Dir)); len(diff) > 0 {
				t.Errorf("after a reset: %v", diff)
			}
		})
	}
}

// TestBroughtMeanwhile: what an earlier step of the run brings to a path is an
// original for the step that owns it.
func TestBroughtMeanwhile(t *testing.T) {
	s := newScene(t, memory.Options{
		Executables: []string{"bring"},
		Programs: map[string]memory.Program{"bring": func(i memory.Invocation) host.CommandResult {
			_ = host.Replace(i.Host.Files, "/etc/a", host.Content{Bytes: []byte("package"), Mode: 0o640})
			return host.CommandResult{}
		}},
	})
	s.drive("command \"bring\" {\n argv = [\"bring\"]\n creates = \"/etc/a\"\n}\n" + file("a", "/etc/a", "ours", "replaces_foreign = true\n"))
	if o := s.copy().Claim("path:/etc/a").Origin; o.Kind != thing.OriginSaved || o.State.Mode != "0640" {
		t.Fatalf("origin %+v", o)
	}
	s.mustReset()
	s.want("/etc/a", "package")
}

// TestUnkeepable: what cannot be put back is not touched.
func TestUnkeepable(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.ok(s.Host().Files.(host.Special).Mknod("/etc/pipe", syscall.S_IFIFO|0o644, 0))
	s.fails(file("b", "/etc/b", "x", "")+"absent \"p\" { path = \"/etc/pipe\" }\n", "cannot be kept")
	s.want("/etc/b", "(absent)")
}

// TestSharedDirectories: parents that are missing are claimed once, before
// what is below them; the first mode wins; they go when they are empty.
func TestSharedDirectories(t *testing.T) {
	s := newScene(t, memory.Options{})
	before := s.Snapshot("/run", record.Dir)
	body := file("a", "/etc/x/y/a", "1", "directory_mode = \"0700\"\n") + file("b", "/etc/x/y/b", "2", "directory_mode = \"0755\"\n") + file("c", "/etc/x/c", "3", "")
	s.drive(body)
	s.list(s.claims(), "dir:/etc/x", "dir:/etc/x/y", "path:/etc/x/y/a", "path:/etc/x/y/b", "path:/etc/x/c")
	if s.mode("/etc/x") != "0700" || s.mode("/etc/x/y") != "0700" {
		t.Errorf("modes %s and %s", s.mode("/etc/x"), s.mode("/etc/x/y"))
	}
	s.drive(file("c", "/etc/x/c", "3", ""))
	s.list(s.claims(), "dir:/etc/x", "path:/etc/x/c")
	if _, err := host.Lstat(s.Host().Files, "/etc/x/y"); !host.Absent(err) {
		t.Errorf("the directory is still there: %v", err)
	}
	s.mustReset()
	if diff := memory.Difference(before, s.Snapshot("/run", record.Dir)); len(diff) > 0 {
		t.Errorf("after a reset: %v", diff)
	}
}

// TestForeignContent: a directory of ours with files of others stays, with a
// warning, and is no residue.
func TestForeignContent(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive(file("a", "/etc/x/a", "1", "") + file("b", "/etc/y/b", "1", "") + file("c", "/etc/z/c", "1", ""))
	s.put("/etc/x/theirs", "t")
	s.ok(s.Host().Files.RemoveAll("/etc/y"))
	s.put("/etc/y", "a file in the place of the directory")
	s.ok(s.Host().Files.RemoveAll("/etc/z"))
	s.mustReset()
	s.want("/etc/x/theirs", "t")
	s.want("/etc/x/a", "(absent)")
	s.want("/etc/y", "a file in the place of the directory")
	s.list(s.warned(),
		"dir:/etc/y: Directory not removed: /etc/y was made by hostler and is no directory any more; it stays",
		"dir:/etc/x: Directory not removed: /etc/x was made by hostler and holds files of others now; it stays")
}

// TestDirectoryOfAStep: a directory that a step owns and that is the parent of
// files goes through every order of steps, and outlives its step while files
// are below.
func TestDirectoryOfAStep(t *testing.T) {
	const dir = "directory \"d\" {\n path = \"/etc/d\"\n mode = \"0750\"\n}\n"
	inside := file("f", "/etc/d/f", "1", "")
	for name, body := range map[string]string{"directory first": dir + inside, "file first": inside + dir} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, memory.Options{})
			before := s.Snapshot("/run", record.Dir)
			s.drive(body)
			if s.mode("/etc/d") != "0750" {
				t.Errorf("mode %s", s.mode("/etc/d"))
			}
			s.restart()
			s.drive(inside) // without the step
			s.want("/etc/d/f", "1")
			s.restart()
			s.drive(body)
			s.restart()
			s.drive(dir)
			s.want("/etc/d/f", "(absent)")
			s.mustReset()
			if diff := memory.Difference(before, s.Snapshot("/run", record.Dir)); len(diff) > 0 {
				t.Errorf("after a reset: %v", diff)
			}
		})
	}
}

// TestAbsentMakesNoParents: a step that wants nothing at a path neither makes
// nor claims the directories above.
func TestAbsentMakesNoParents(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive(file("f", "/etc/f", "1", "") + "absent \"old\" { path = \"/etc/theirs/old\" }\n")
	s.list(s.claims(), "path:/etc/f", "path:/etc/theirs/old")
	if _, err := host.Lstat(s.Host().Files, "/etc/theirs"); !host.Absent(err) {
		t.Errorf("the directory was made: %v", err)
	}
}
