package memory

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"hostler/interpreter/host"
)

// idleState is the sub-state of an active unit that has no process.
func idleState(name string) string {
	switch path.Ext(name) {
	case ".socket":
		return "listening"
	case ".timer", ".path":
		return "waiting"
	case ".mount":
		return "mounted"
	}
	return "active"
}

// mainProcess decides what the main process does: a script says so, else its
// command line.
func (s *manager) mainProcess(u *unit) Outcome {
	script := s.m.opts.Scripts[s.key(u.def.name)]
	nspawn := s.nspawnMachine(u)
	if script != nil {
		if out := s.play(script, u.starts); out.Ends || nspawn == "" {
			return out
		}
	}
	lines := u.def.text.all("Service", "ExecStart")
	if nspawn != "" {
		if out := s.found(lines[0]); out.Ends {
			return out
		}
		return s.m.nspawn(u, nspawn)
	}
	out := Outcome{Ends: u.def.kind() == "oneshot"}
	for _, line := range lines {
		step := s.exec(u, line)
		out.After += step.After
		out.Ends, out.Status, out.Signal = step.Ends, step.Status, step.Signal
		out.Log = append(out.Log, step.Log...)
		if !step.Ends || step.Status != 0 || step.Signal != 0 {
			break
		}
	}
	return out
}

func (s *manager) play(script Script, n int) Outcome {
	s.m.mu.Unlock()
	defer s.m.mu.Lock()
	return script(n)
}

// command takes an Exec line apart. Prefixes other than "-" have no effect
// here.
func command(line string) (argv []string, tolerant bool) {
	line = strings.TrimSpace(line)
	rest := strings.TrimLeft(line, "-@:+!|")
	tolerant = strings.Contains(line[:len(line)-len(rest)], "-")
	for _, word := range strings.Fields(rest) {
		argv = append(argv, strings.Trim(word, `"'`))
	}
	return argv, tolerant
}

// found looks for the executable of an Exec line; the outcome of one that is
// missing is what systemd reports.
func (s *manager) found(line string) Outcome {
	argv, _ := command(line)
	name := ""
	if len(argv) > 0 {
		name = argv[0]
	}
	if _, err := host.LookTool(s.r.f, name); err != nil {
		return Outcome{Ends: true, Status: notExecutable,
			Log: []string{"Failed at step EXEC spawning " + name + ": No such file or directory"}}
	}
	return Outcome{}
}

// exec decides how one command line goes.
func (s *manager) exec(u *unit, line string) Outcome {
	argv, tolerant := command(line)
	out := s.found(line)
	if !out.Ends {
		out = s.behave(u, argv, slices.Contains(u.def.text.all("Service", "ExecStart"), line) && u.def.kind() != "oneshot")
	}
	if tolerant {
		out.Status, out.Signal = 0, 0
	}
	return out
}

// behave is what a known executable does; what is not known keeps running as
// a service and succeeds as a step.
func (s *manager) behave(u *unit, argv []string, service bool) Outcome {
	switch name := path.Base(argv[0]); name {
	case "true":
		return Outcome{Ends: true}
	case "false":
		return Outcome{Ends: true, Status: 1}
	case "sleep":
		return sleeping(argv[1:])
	default:
		if program := s.m.opts.Programs[name]; program != nil && !service {
			return s.runProgram(program, argv)
		}
	}
	return Outcome{Ends: !service}
}

func sleeping(args []string) Outcome {
	if len(args) != 1 || args[0] == "infinity" {
		return Outcome{}
	}
	d, err := time.ParseDuration(args[0])
	if err != nil {
		d, err = time.ParseDuration(args[0] + "s")
	}
	if err != nil {
		return Outcome{Ends: true, Status: 1}
	}
	return Outcome{Ends: true, After: d}
}

func (s *manager) runProgram(program Program, argv []string) Outcome {
	h := s.m.inside(s.machine)
	s.m.mu.Unlock()
	defer s.m.mu.Lock()
	r := program(Invocation{Command: host.Command{Argv: argv}, Host: h})
	out := Outcome{Ends: true, Status: r.ExitCode}
	if r.Signal != "" {
		out.Signal = 9
	}
	if text := strings.TrimSpace(string(r.Stderr)); text != "" {
		out.Log = strings.Split(text, "\n")
	}
	return out
}

// holds evaluates the conditions or assertions of a unit: all must hold, and
// of those marked with "|" one. What cannot be judged here holds.
func (s *manager) holds(u *unit, family string) bool {
	triggers, triggered := false, false
	for key, values := range u.def.text["Unit"] {
		kind, ok := strings.CutPrefix(key, family)
		if !ok {
			continue
		}
		for _, v := range values {
			v, trigger := strings.CutPrefix(v, "|")
			v, negated := strings.CutPrefix(v, "!")
			holds := s.judge(kind, v) != negated
			switch {
			case trigger:
				triggers, triggered = true, triggered || holds
			case !holds:
				return false
			}
		}
	}
	return !triggers || triggered
}

// judge evaluates one condition.
func (s *manager) judge(kind, name string) bool {
	info, err := s.r.f.Stat(name)
	switch kind {
	case "PathExists":
		return err == nil
	case "PathIsDirectory":
		return err == nil && info.IsDir()
	case "PathIsSymbolicLink":
		return s.r.link(name) != ""
	case "FileNotEmpty":
		return err == nil && info.Mode().IsRegular() && info.Size() > 0
	case "FileIsExecutable":
		return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
	case "DirectoryNotEmpty":
		return err == nil && info.IsDir() && len(s.r.names(name)) > 0
	case "PathIsMountPoint":
		mount, err := storageDoor{s.m, s.machine, s.r.f.base}.Mount(context.Background(), name)
		return err == nil && mount.Point == path.Clean(name)
	}
	return true
}
