package scene

import (
	"errors"
	"fmt"
	"syscall"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

// processBlock says what the main process of a unit does.
type processBlock struct {
	// Unit is "name.service", or "kube1/name.service" inside a machine.
	Unit string `hcl:"unit,label"`
	// After is how long it runs; without it the process ends at once.
	After  string   `hcl:"after,optional"`
	Status int      `hcl:"exit_code,optional"`
	Signal int      `hcl:"signal,optional"`
	Ends   *bool    `hcl:"ends,optional"`
	Ready  *bool    `hcl:"ready,optional"`
	Log    []string `hcl:"log,optional"`
	// Starts bounds to how many starts it applies; after that it keeps running.
	Starts int `hcl:"starts,optional"`
}

func (p processBlock) script() (memory.Script, error) {
	out := memory.Outcome{Ends: p.Ends == nil || *p.Ends, Status: p.Status, Signal: p.Signal, Silent: p.Ready != nil && !*p.Ready, Log: p.Log}
	if p.After != "" {
		d, err := block.ParseDuration(p.After)
		if err != nil {
			return nil, fmt.Errorf("process %s: after: %w", p.Unit, err)
		}
		out.After = d
	}
	return func(n int) memory.Outcome {
		if p.Starts > 0 && n > p.Starts {
			return memory.Outcome{}
		}
		return out
	}, nil
}

// programBlock says what an executable does when it runs.
type programBlock struct {
	Name     string      `hcl:"name,label"`
	ExitCode int         `hcl:"exit_code,optional"`
	Stdout   string      `hcl:"stdout,optional"`
	Stderr   string      `hcl:"stderr,optional"`
	Removes  []string    `hcl:"removes,optional"`
	Files    []fileBlock `hcl:"file,block"`
}

func (b *builder) program(p programBlock) (memory.Program, error) {
	writes := map[string]memory.File{}
	for _, f := range p.Files {
		file, err := b.file(f)
		if err != nil {
			return nil, fmt.Errorf("program %s: %w", p.Name, err)
		}
		writes[f.Path] = file
	}
	for _, name := range p.Removes {
		if err := block.CheckPath(name); err != nil {
			return nil, fmt.Errorf("program %s: removes: %w", p.Name, err)
		}
	}
	return func(i memory.Invocation) host.CommandResult {
		if err := act(i.Host.Files, writes, p.Removes); err != nil {
			return host.CommandResult{ExitCode: 1, Stderr: []byte(err.Error())}
		}
		return host.CommandResult{ExitCode: p.ExitCode, Stdout: []byte(p.Stdout), Stderr: []byte(p.Stderr)}
	}, nil
}

// act writes and removes files.
func act(f host.Files, writes map[string]memory.File, removes []string) error {
	var errs []error
	for name, file := range writes {
		mode := file.Mode
		if mode == 0 {
			mode = 0o644
		}
		err := host.MakeParents(f, name, 0o755)
		if err == nil {
			err = host.Replace(f, name, host.Content{Bytes: []byte(file.Content), Mode: mode, UID: file.UID, GID: file.GID})
		}
		errs = append(errs, err)
	}
	for _, name := range removes {
		errs = append(errs, f.RemoveAll(name))
	}
	return errors.Join(errs...)
}

// Fault is something that does not work on a host.
type Fault struct {
	Kind    string `hcl:"kind,label"`
	Message string `hcl:"message,optional"`
	// Unit, Job and Result are those of kind "job".
	Unit   string `hcl:"unit,optional"`
	Job    string `hcl:"job,optional"`
	Result string `hcl:"result,optional"`
	// At is the number of the effect, Path the name in it, for kinds "error",
	// "crash" and "power_loss".
	At    int    `hcl:"at,optional"`
	Path  string `hcl:"path,optional"`
	Errno string `hcl:"errno,optional"`
}

// calls are the kinds of faults that refuse a kind of call.
func calls() map[string]memory.Call {
	return map[string]memory.Call{
		"manager": memory.CallManager, "unit": memory.CallUnit, "reload": memory.CallReload, "reset_failed": memory.CallResetFailed,
		"machine_inventory": memory.CallRegistered, "terminate": memory.CallTerminate,
	}
}

// Errnos are the faults of the kernel that "error" knows, by name.
func errnos() map[string]error {
	return map[string]error{
		"": syscall.EIO, "EIO": syscall.EIO, "ENOSPC": syscall.ENOSPC, "EROFS": syscall.EROFS, "EACCES": syscall.EACCES,
		"EBUSY": syscall.EBUSY, "EPERM": syscall.EPERM,
	}
}

// Effectful says that the fault is one of a run's effects.
func (f Fault) Effectful() bool {
	return f.Kind == "error" || f.Kind == "crash" || f.Kind == "power_loss"
}

// Err is what fails with.
func (f Fault) Err() error { return errnos()[f.Errno] }

// check holds a fault to what can go wrong; of a run says that its effects
// can.
func (f *Fault) check(run bool) error {
	_, call := calls()[f.Kind]
	switch {
	case call:
		return nil
	case f.Kind == "job":
		if f.Unit == "" {
			return errors.New("fault \"job\" names the unit: write unit = \"NAME.service\"")
		}
		if f.Job == "" {
			f.Job = string(host.JobStart)
		}
		if f.Result == "" {
			f.Result = "failed"
		}
		return nil
	case f.Effectful() && !run:
		return fmt.Errorf("fault %q is of one run: write it in a run block", f.Kind)
	case f.Effectful():
		return f.checkEffect()
	}
	return fmt.Errorf("there is no fault %q; faults are machine_inventory, manager, unit, reload, reset_failed, terminate, job, and of a run error, crash and power_loss", f.Kind)
}

func (f *Fault) checkEffect() error {
	if _, ok := errnos()[f.Errno]; !ok {
		return fmt.Errorf("fault %q: errno is EIO, ENOSPC, EROFS, EACCES, EBUSY or EPERM", f.Kind)
	}
	if (f.At > 0) == (f.Path != "") || f.At < 0 {
		return fmt.Errorf("fault %q says where: at = NUMBER of the effect, or path = NAME that an effect has", f.Kind)
	}
	return nil
}

// CheckOfRun holds a fault of a run to what can go wrong.
func (f *Fault) CheckOfRun() error { return f.check(true) }

// Begin makes the fault be there; one of an effect is left to the run.
func (f Fault) Begin(m *memory.Memory) {
	if call, ok := calls()[f.Kind]; ok {
		text := f.Message
		if text == "" {
			text = "refused by the test"
		}
		m.Refuse(call, errors.New(text))
	}
	if f.Kind == "job" {
		m.FailJob(host.JobVerb(f.Job), f.Unit, host.JobResult(f.Result))
	}
}

// End makes it go away.
func (f Fault) End(m *memory.Memory) {
	if call, ok := calls()[f.Kind]; ok {
		m.Refuse(call, nil)
	}
	if f.Kind == "job" {
		m.FailJob(host.JobVerb(f.Job), f.Unit, "")
	}
}
