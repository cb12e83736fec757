package operate

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"hostler/interpreter"
	"hostler/interpreter/history"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/report"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// Support writes one tar with what a supporter needs to understand a host: its
// status, facts, plan, record, history, units, machines and their journals. What
// looks like a secret is taken out. What cannot be had is named in
// missing.txt and fails nothing. version is that of the program.
func Support(ctx context.Context, in *interpreter.Interpreter, version string, w io.Writer) error {
	b := &bundle{in: in, version: version, now: in.Host.Clock.Now(), out: tar.NewWriter(w)}
	for _, part := range []struct {
		name string
		add  func(context.Context) error
	}{
		{"about", b.about}, {"status", b.status}, {"facts", b.facts}, {"plan", b.plan}, {"record", b.record}, {"history", b.history},
		{"machines", b.machines}, {"units", b.units}, {"journal of hostler", b.own},
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := part.add(ctx); err != nil {
			b.lacks(part.name, err)
		}
	}
	if len(b.missing) > 0 {
		b.file("missing.txt", []byte(strings.Join(b.missing, "\n")+"\n"))
	}
	return errors.Join(b.failed, b.out.Close())
}

// bundle is a support bundle in the making. A write that fails fails it as a
// whole.
type bundle struct {
	in      *interpreter.Interpreter
	version string
	now     time.Time
	out     *tar.Writer
	missing []string
	failed  error
}

func (b *bundle) lacks(what string, err error) {
	b.missing = append(b.missing, what+": "+Redact(err.Error()))
}

func (b *bundle) file(name string, data []byte) {
	if b.failed != nil {
		return
	}
	data = []byte(Redact(string(data)))
	b.failed = b.out.WriteHeader(&tar.Header{Name: "hostler-support/" + name, Mode: 0o600, Size: int64(len(data)), ModTime: b.now, Format: tar.FormatPAX})
	if b.failed == nil {
		_, b.failed = b.out.Write(data)
	}
}

func (b *bundle) document(name string, v any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.file(name, out.Bytes())
	return nil
}

func (b *bundle) about(context.Context) error {
	b.file("README.txt", fmt.Appendf(nil, "Gathered by hostler %s on %s.\nWhat looks like a secret was taken out. Journals hold what programs write: read them before you pass this on.\n",
		b.version, b.now.UTC().Format(time.RFC3339)))
	return nil
}

func (b *bundle) status(ctx context.Context) error {
	s, err := b.in.Status(ctx, interpreter.Request{})
	return errors.Join(err, b.document("status.json", interpreter.StatusDocument(s)))
}

func (b *bundle) facts(ctx context.Context) error {
	facts, err := host.ReadFacts(ctx, b.in.Host.View())
	return errors.Join(err, b.document("facts.json", facts))
}

// plan is what ensure would do.
func (b *bundle) plan(ctx context.Context) error {
	var events []walk.Event
	reader := *b.in
	reader.Emit, reader.Attend = func(e walk.Event) { events = append(events, e) }, nil
	out, err := reader.Verify(ctx, interpreter.Request{})
	if errors.Is(err, record.ErrAbsent) {
		return err
	}
	plan := report.NewPlan(events)
	plan.Phase, plan.Identity = out.Phase, out.Identity
	for i := range plan.Actions {
		plan.Actions[i].Diff = "" // contents of files
	}
	return errors.Join(err, b.document("plan.json", plan))
}

func (b *bundle) record(context.Context) error {
	f, err := b.in.Host.Files.Open(record.File)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	return b.document("record.json", withoutContents(doc))
}

func (b *bundle) history(context.Context) error {
	runs, damaged, err := history.List(b.in.Host.Files)
	for _, r := range runs {
		err = errors.Join(err, b.document(fmt.Sprintf("history/%06d.json", r.Number), r))
	}
	return errors.Join(append(damaged, err)...)
}

func (b *bundle) machines(ctx context.Context) error {
	all, err := b.in.Host.Machines.Registered(ctx)
	return errors.Join(err, b.document("machines.json", append([]host.MachineState{}, all...)))
}

// ownedUnits are the units that the installation owns, by machine.
func (b *bundle) ownedUnits(ctx context.Context) (map[string][]string, error) {
	h, err := b.in.Holdings(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, c := range h.Claims {
		machine, inner := c.Thing.Machine()
		unit := inner.Name()
		switch inner.Kind() {
		case "machine":
			unit = thing.MachineUnit(unit)
		case "unit-active", "unit-enabled":
		default:
			continue
		}
		if !slices.Contains(all[machine], unit) && !strings.ContainsAny(unit, "*?/") {
			all[machine] = append(all[machine], unit)
		}
	}
	return all, nil
}

func (b *bundle) units(ctx context.Context) error {
	owned, err := b.ownedUnits(ctx)
	if err != nil {
		return err
	}
	states := map[string]host.UnitState{}
	for machine, units := range owned {
		h, err := b.inside(ctx, machine)
		if err != nil {
			b.lacks("units of machine "+machine, err)
			continue
		}
		for _, unit := range units {
			state, err := h.Units.Unit(ctx, unit)
			if err != nil {
				b.lacks("unit "+path.Join(machine, unit), err)
				continue
			}
			states[path.Join(machine, unit)] = state
			b.journal(ctx, h, path.Join("journal", machine, unit+".log"), "--unit="+unit)
		}
	}
	return b.document("units.json", states)
}

func (b *bundle) inside(ctx context.Context, machine string) (host.Host, error) {
	if machine == "" {
		return b.in.Host, nil
	}
	return b.in.Host.Machines.Host(ctx, machine)
}

// How much of a journal is gathered, and how long that may take.
const (
	journalLines = "1000"
	journalTime  = 20 * time.Second
)

func (b *bundle) journal(ctx context.Context, h host.Host, name string, match ...string) {
	argv := append([]string{"journalctl", "--no-pager", "--quiet", "--output=short-iso-precise", "--lines=" + journalLines}, match...)
	res, err := h.Commands.Run(ctx, host.Command{Argv: argv, Timeout: journalTime, MaxOutput: 4 << 20})
	if err != nil {
		b.lacks(name, err)
		return
	}
	b.file(name, res.Stdout)
}

// own is what hostler wrote itself.
func (b *bundle) own(ctx context.Context) error {
	if !b.in.Host.Identity.Live {
		return host.ErrNoManager
	}
	b.journal(ctx, b.in.Host, "journal/hostler.log", "_COMM=hostler")
	return nil
}
