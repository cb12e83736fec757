package walk

import (
	"maps"
	"path"
	"slices"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// stage is the stage the walk is in and what it touched.
type stage struct {
	name    string
	entered bool
	// touched are directories on the host in which something changed.
	touched map[string]bool
}

// changed notes where a step changed something. What a program changed is not
// known: then it is the root file system.
func (s *stage) changed(p *block.Placed, wanted []record.Wanted, change block.Change) {
	s.touch(rootOf(p.Machine))
	for _, want := range wanted {
		s.thing(want.Key)
	}
	if change.Action == block.ActionRun || change.Action == block.ActionUnknown {
		s.touch("/")
	}
}

func rootOf(machine string) string {
	if machine == "" {
		return ""
	}
	return host.MachineRoot(machine)
}

// thing notes where a thing is.
func (s *stage) thing(key thing.Key) {
	machine, _ := key.Machine()
	switch kind := key.Kind(); {
	case machine != "":
		s.touch(rootOf(machine))
	case kind == "machine":
		s.touch(host.MachineRoot(key.Name()))
	case kind == "path", kind == "dir":
		s.touch(path.Dir(key.Name()))
	case kind == "unit-enabled":
		s.touch(unitDirs[0])
	}
}

func (s *stage) touch(dir string) {
	if s.touched == nil {
		s.touched = map[string]bool{}
	}
	if dir != "" {
		s.touched[dir] = true
	}
}

func (w *walker) enterStage(name string) error {
	if w.stage.entered && w.stage.name == name {
		return nil
	}
	if err := w.leaveStage(); err != nil {
		return err
	}
	w.stage = stage{name: name, entered: true}
	if name != "" {
		w.emit(Event{Kind: StageStarted, Stage: name})
	}
	return nil
}

// leaveStage makes durable what the stage changed.
func (w *walker) leaveStage() error {
	touched := w.stage.touched
	w.stage = stage{}
	if w.Shadow {
		return nil // nothing was changed
	}
	return syncAll(w.Host, touched)
}

// syncAll syncs each file system that holds one of the directories once. A
// directory that is gone is looked for upwards.
func syncAll(h host.Host, dirs map[string]bool) error {
	synced := map[uint64]bool{}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		info, err := h.Files.Stat(dir)
		for host.Absent(err) && dir != "/" {
			dir = path.Dir(dir)
			info, err = h.Files.Stat(dir)
		}
		if err != nil {
			return err
		}
		if dev := host.StatOf(info).Dev; !synced[dev] {
			synced[dev] = true
			if err := h.Files.SyncTree(dir); err != nil {
				return err
			}
		}
	}
	return nil
}
