package walk_test

import (
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
)

// synced lists what file systems the last walk made durable.
func (s *scene) synced() (list []string) {
	for _, e := range s.plan.Log() {
		if e.Kind == "synctree" {
			list = append(list, e.Name)
		}
	}
	return list
}

// TestStageSyncs: when a stage that changed something ends, each file system
// that it touched is made durable once; one that changed nothing syncs nothing
// (R075).
func TestStageSyncs(t *testing.T) {
	s := newScene(t, memory.Options{
		Mounts: []memory.Mount{{Point: "/data", Type: "ext4"}}, Executables: []string{"work"},
		Programs: map[string]memory.Program{"work": func(i memory.Invocation) host.CommandResult {
			_ = host.Replace(i.Host.Files, "/made", host.Content{Mode: 0o644})
			return host.CommandResult{}
		}},
	})
	one := file("a", "/etc/a", "1", "") + file("b", "/etc/b", "1", "") + file("d", "/data/d", "1", "")
	two := file("c", "/etc/c", "1", "")
	body := func() string {
		return "stage \"one\" {\n" + one + "}\nstage \"two\" {\n" + two + "}\nstage \"three\" {\n command \"w\" {\n argv = [\"work\"]\n creates = \"/made\"\n }\n}\n"
	}
	s.drive(body())
	s.list(s.synced(), "/data", "/etc", "/etc", "/")
	if last, next := s.place("synctree", "/etc"), s.place("open", "/etc/.c.hostler-tmp"); last > next {
		t.Errorf("the first stage is synced at %d, the second begins at %d", last, next)
	}
	two = file("c", "/etc/c", "2", "")
	s.drive(body())
	s.list(s.synced(), "/etc")
	s.drive(body())
	s.list(s.synced())
}

// TestStageSyncFails: a stage whose changes are not durable has failed.
func TestStageSyncFails(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.plan = fault.FailAt(1, syscall.EIO).Only(func(e fault.Effect) bool { return e.Kind == "synctree" })
	s.fails("stage \"one\" {\n"+file("a", "/etc/a", "1", "")+"}\nstage \"two\" {\n"+file("b", "/etc/b", "1", "")+"}\n", "input/output error")
	s.want("/etc/b", "(absent)")
}

// TestStageOfPrunedThings: what was undone is synced, too, even where its
// directory is gone.
func TestStageOfPrunedThings(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive(file("a", "/etc/deep/er/a", "1", ""))
	s.drive("")
	s.list(s.synced(), "/etc")
}

// TestStageOfMachines: a stage that changed something inside a machine syncs
// its tree.
func TestStageOfMachines(t *testing.T) {
	o := machineHost(t)
	o.Mounts = []memory.Mount{{Point: "/var/lib/machines", Type: "ext4"}}
	s := newScene(t, o)
	s.drive("stage \"m\" {\n" + worker("w", "c", "k") + "}\n")
	if got := strings.Join(s.synced(), " "); !strings.Contains(got, "/var/lib/machines/kube1") {
		t.Errorf("synced %s", got)
	}
	s.drive("stage \"m\" {\n" + worker("w", "c2", "k") + "}\n")
	s.list(s.synced(), "/var/lib/machines/kube1")
}
