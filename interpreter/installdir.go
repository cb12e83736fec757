package interpreter

import (
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
	"hostler/interpreter/walk"
)

// installDir is a directory below the install prefix into which steps put
// files. It is derived from what the steps own, so that what is probed is what
// will be written.
type installDir struct {
	path     string
	placed   *block.Placed // the first step that writes there
	programs bool          // some of the files are to be run
}

// installDirs are the directories below the prefix that steps have yet to
// write to, in the order of the steps.
func (r *run) installDirs(ctx context.Context, steps []block.Placed) (dirs []installDir) {
	all := record.WantedOf(steps)
	wanted := slices.DeleteFunc(slices.Clone(all), func(w record.Wanted) bool {
		return w.Placed.Machine != "" || w.Key.Kind() != "path" || !strings.HasPrefix(w.Key.Name(), r.installPrefix()+"/")
	})
	if len(wanted) == 0 {
		return nil
	}
	standing := walk.Standing(ctx, r.input(steps, nil), func(p *block.Placed) bool {
		return slices.ContainsFunc(wanted, func(w record.Wanted) bool { return w.Placed == p })
	})
	for _, w := range wanted {
		dir := path.Dir(w.Key.Name())
		if standing[w.Placed] || mountedBy(all, dir) {
			continue
		}
		at := slices.IndexFunc(dirs, func(d installDir) bool { return d.path == dir })
		if at < 0 {
			at = len(dirs)
			dirs = append(dirs, installDir{path: dir, placed: w.Placed})
		}
		dirs[at].programs = dirs[at].programs || program(w.Owned.Want, dir)
	}
	return dirs
}

// mountedBy says whether a step mounts something over a directory: what is
// there now says nothing about it.
func mountedBy(wanted []record.Wanted, dir string) bool {
	for ; dir != "/"; dir = path.Dir(dir) {
		unit, err := unitfile.EscapePath(dir)
		if err != nil {
			return false
		}
		if slices.ContainsFunc(wanted, func(w record.Wanted) bool { return w.Key == thing.Key("unit-active:"+unit+".mount") }) {
			return true
		}
	}
	return false
}

// program says whether a wanted file is to be run: its mode tells, and where it
// is not known the name of its directory.
func program(want *thing.State, dir string) bool {
	if want == nil {
		return slices.Contains([]string{"bin", "sbin", "libexec"}, path.Base(dir))
	}
	mode, err := strconv.ParseUint(want.Mode, 8, 32)
	return err == nil && want.Kind == thing.File && mode&0o111 != 0
}

// probeInstall finds the directories of the installation that cannot be
// written or from which nothing can be run.
func (r *run) probeInstall(ctx context.Context, steps []block.Placed) (findings []walk.Finding, err error) {
	view := r.host.View()
	for _, d := range r.installDirs(ctx, steps) {
		unmet, err := block.Writable(ctx, view, d.path)
		if err == nil && unmet == nil && d.programs {
			unmet, err = block.RunsFrom(ctx, view, d.path)
		}
		switch {
		case errors.Is(err, host.ErrUnknown):
		case err != nil:
			return nil, err
		case unmet != nil:
			findings = append(findings, walk.Finding{Address: d.placed.Address, Placed: d.placed, Err: unmet})
		}
	}
	return findings, nil
}
