package requirecapability

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

// How long another program may hold the package database: unattended upgrades
// of a first boot take minutes.
const (
	lockWait = 5 * time.Minute
	lockPoll = 5 * time.Second
)

// install installs those of the packages that are not there.
func (m manager) install(ctx context.Context, do block.Do, names []string) error {
	missing, err := m.missing(ctx, do.Host, names)
	if err != nil || len(missing) == 0 {
		return err
	}
	refreshed, err := m.run(ctx, do, m.refresh, "")
	if err != nil {
		return err
	}
	_, err = m.run(ctx, do, append(slices.Clone(m.installing), missing...), refreshed)
	return err
}

// run runs the package manager, without a terminal or anything to read, and
// again while another program holds its lock. It returns what was said. before
// is what was said when the lists were refreshed: a network that fails there
// may show only in what is then not found.
func (m manager) run(ctx context.Context, do block.Do, args []string, before string) (said string, err error) {
	what, mended := m.command+" "+strings.Join(args, " "), false
	for waited := time.Duration(0); ; waited += lockPoll {
		res, err := do.Host.Commands.Run(ctx, host.Command{Argv: append([]string{m.command}, args...), Env: m.env})
		said := string(res.Stderr) + "\n" + string(res.Stdout)
		if err == nil {
			return said, nil
		}
		if _, failed := errors.AsType[*host.ExitError](err); !failed {
			return said, fmt.Errorf("%s: %w", what, err)
		}
		if interrupted.MatchString(said) && m.mend != nil && !mended {
			if err := m.finish(ctx, do); err != nil {
				return said, err
			}
			mended = true
			continue
		}
		if !locked.MatchString(said) || barred.MatchString(said) {
			return said, classed(what, said, before, err)
		}
		if waited >= lockWait {
			return said, &block.PassingError{Class: block.FaultBusy, Err: fmt.Errorf("%s: another program holds the lock of the package database%s and did not let go within %s: %w", what, holder(said), lockWait, err)}
		}
		if waited == 0 {
			do.Warn(block.Warning{Summary: "The package database is in use", Detail: fmt.Sprintf("Another program%s holds its lock; %s is tried again for %s.", holder(said), what, lockWait)})
		}
		if err := do.Host.Clock.Sleep(ctx, lockPoll); err != nil {
			return said, fmt.Errorf("%s: waiting for the lock of the package database%s: %w", what, holder(said), err)
		}
	}
}

// finish completes an installation that a crash or a loss of power cut short:
// until then the package manager refuses everything.
func (m manager) finish(ctx context.Context, do block.Do) error {
	what := strings.Join(m.mend, " ")
	do.Warn(block.Warning{Summary: "An installation of packages was cut short", Detail: what + " finishes it before anything else is installed."})
	if _, err := do.Host.Commands.Run(ctx, host.Command{Argv: m.mend, Env: m.env}); err != nil {
		return fmt.Errorf("%s: an earlier installation of packages was cut short and cannot be finished: %w", what, err)
	}
	return nil
}

var (
	interrupted = regexp.MustCompile(`dpkg was interrupted`)
	locked      = regexp.MustCompile(`(?i)could not get lock|unable to (acquire|lock)|is another process using it|lock.* held by|failed to obtain the transaction lock|another instance is already running`)
	// barred is a lock that nobody holds and that cannot be taken all the same.
	barred  = regexp.MustCompile(`(?i)read-only file system|permission denied|no space left|are you root|input/output error`)
	heldBy  = regexp.MustCompile(`held by process ([0-9]+)(?: \(([^)\n]+)\))?`)
	heldPkg = regexp.MustCompile(`(?i)held packages were changed|versionlock`)
	// notFound is a package that the lists at hand do not have.
	notFound = regexp.MustCompile(`(?i)unable to locate package|no installation candidate|no match for argument|no package .*(available|found)|nothing to do`)
	network  = regexp.MustCompile(`(?i)temporary failure resolving|could not resolve|failed to fetch|could not connect|connection (timed out|refused|reset)|timed? ?out|unable to connect|cannot download|curl error|network is unreachable|hash sum mismatch|mirror sync in progress`)
)

// holder says who holds the lock, as far as the package manager tells.
func holder(said string) string {
	m := heldBy.FindStringSubmatch(said)
	switch {
	case m == nil:
		return ""
	case m[2] == "":
		return ", process " + m[1] + ","
	}
	return fmt.Sprintf(", process %s (%s),", m[1], m[2])
}

// classed says whether a failure may pass, and what to do about a held package.
func classed(what, said, before string, err error) error {
	switch {
	case heldPkg.MatchString(said):
		return fmt.Errorf("%s: a package that would change is held at its version on this host; the hold is somebody's decision and stays: release it (apt-mark unhold) or install what is missing by hand: %w", what, err)
	case network.MatchString(said):
		return &block.PassingError{Class: block.FaultNetwork, Err: fmt.Errorf("%s: %w", what, err)}
	}
	if missed := network.FindString(before); missed != "" && notFound.MatchString(said) {
		return &block.PassingError{Class: block.FaultNetwork, Err: fmt.Errorf("%s: %w (the package lists could not be refreshed before: %s)", what, err, missed)}
	}
	return fmt.Errorf("%s: %w", what, err)
}
