package record

import (
	"errors"
	"fmt"
	"slices"

	"hostler/interpreter/block"
)

// Verb is a command that wants to change an installation.
type Verb string

// The verbs that are admitted.
const (
	Ensure Verb = "ensure"
	Apply  Verb = "apply"
	Repave Verb = "repave"
	Adopt  Verb = "adopt"
)

// Identity is what makes an installation this installation.
type Identity struct {
	Recipe      string
	Fingerprint string
	// Prefix is the resolved prefix, "" for the default.
	Prefix string
}

// Course is what an admitted command does.
type Course string

// The courses.
const (
	// Fresh: the host must be clean; install the recipe given.
	Fresh Course = "fresh"
	// Continue: drive to a target evaluated from the recipe given.
	Continue Course = "continue"
	// Resume: drive to the stored target.
	Resume Course = "resume"
	// Maintain: drive to what was applied: verify and repair.
	Maintain Course = "maintain"
	// Update: drive a complete installation to the recipe given.
	Update Course = "update"
)

// RefusedError says why a command is not admitted. The host was not changed.
type RefusedError struct {
	Reason, Advice string
}

func (e *RefusedError) Error() string { return e.Reason + "; " + e.Advice }

// Admission is the answer of Admit.
type Admission struct {
	Course Course
	// Warnings are what an operator should know although it is admitted.
	Warnings []block.Warning
}

// Admit decides what a command may do, from what Store.Load returned and the
// identity of the recipe and inputs given; given is nil when none were given
// or they cannot be read, which givenErr then says. It is the one entry point.
func Admit(verb Verb, r *Record, loadErr error, given *Identity, givenErr error) (Admission, error) {
	switch {
	case errors.Is(loadErr, ErrAbsent):
		return admitFresh(verb, given, givenErr)
	case loadErr != nil:
		return Admission{}, refuseUnreadable(loadErr)
	case r.Phase == Resetting:
		return Admission{}, &RefusedError{"a reset of this host is not finished", "run hostler reset again until it succeeds"}
	case verb == Adopt:
		return Admission{}, &RefusedError{fmt.Sprintf("recipe %s is installed on this host", r.Recipe.Name), "adopt takes over hosts without a record only"}
	case r.Phase == Installing:
		return admitInstalling(verb, r, given, givenErr)
	}
	return admitComplete(verb, r, given, givenErr)
}

func refuseUnreadable(err error) error {
	if newer, ok := errors.AsType[*block.NewerError](err); ok {
		return &RefusedError{newer.Error(), "nothing was changed"}
	}
	if _, ok := errors.AsType[*UnreadableError](err); ok {
		return &RefusedError{"who owns this host cannot be told: " + err.Error(), "nothing was changed"}
	}
	return err
}

func admitFresh(verb Verb, given *Identity, givenErr error) (Admission, error) {
	switch {
	case given == nil && givenErr != nil:
		return Admission{}, givenErr
	case verb == Repave:
		return Admission{}, &RefusedError{"nothing is installed on this host", "run hostler apply first"}
	case given == nil:
		return Admission{}, ErrNotGiven
	}
	return Admission{Course: Fresh}, nil
}

func admitInstalling(verb Verb, r *Record, given *Identity, givenErr error) (Admission, error) {
	stored := verb == Ensure && (r.Applied != "" || given == nil)
	if given == nil && givenErr != nil && !(stored && r.Applied != "") {
		return Admission{}, givenErr
	}
	if given != nil {
		if err := r.admitIdentity(verb, *given); err != nil {
			return Admission{}, err
		}
	}
	if stored || given == nil {
		a := Admission{Course: Resume}
		a.unreadable(givenErr, "The installation is driven to its stored target")
		return a, nil
	}
	return Admission{Course: Continue}, nil
}

func admitComplete(verb Verb, r *Record, given *Identity, givenErr error) (Admission, error) {
	if verb != Ensure {
		if given == nil {
			if givenErr != nil {
				return Admission{}, givenErr
			}
			return Admission{Course: Resume}, nil
		}
		if err := r.admitIdentity(verb, *given); err != nil {
			return Admission{}, err
		}
		return Admission{Course: Update}, nil
	}
	a := Admission{Course: Maintain}
	if given == nil {
		a.unreadable(givenErr, "The host is driven to what was applied")
		return a, nil
	}
	switch why := r.differs(*given); {
	case why == "":
	case slices.Contains(r.Superseded, given.Fingerprint):
		a.warn("Superseded identity", "The recipe and inputs given are those of an earlier identity that a repave replaced; the host is driven to what was applied.")
	case r.Repave != nil && given.Fingerprint == r.Repave.Fingerprint:
		a.warn("Identity not moved yet", "The recipe and inputs given are those of a repave that is not finished; what the host is driven to does not depend on them.")
	default:
		return Admission{}, r.refuseIdentity(why)
	}
	return a, nil
}

// admitIdentity refuses another identity. A repave may move it, but for the
// prefix, below which things are that no machine has.
func (r *Record) admitIdentity(verb Verb, given Identity) error {
	why := r.differs(given)
	if why == "" || verb == Repave && given.Prefix == r.Prefix {
		return nil
	}
	return r.refuseIdentity(why)
}

// unreadable warns of a recipe and inputs that were given and not used.
func (a *Admission) unreadable(err error, instead string) {
	if err != nil {
		a.warn("Inputs not readable", instead+"; the recipe and inputs given were not used: "+err.Error())
	}
}

func (a *Admission) warn(summary, detail string) {
	a.Warnings = append(a.Warnings, block.Warning{Summary: summary, Detail: detail})
}

func (r *Record) refuseIdentity(why string) error {
	advice := "nothing was changed: run hostler reset first, then install again"
	if len(r.Machines) > 0 {
		advice += "; hostler repave moves an installation with its machines"
	}
	return &RefusedError{why, advice}
}

// differs says in what an identity is another than the recorded one, "" if it
// is the same.
func (r *Record) differs(given Identity) string {
	switch {
	case given.Recipe != r.Recipe.Name:
		return fmt.Sprintf("recipe %s is installed on this host and recipe %s was given", r.Recipe.Name, given.Recipe)
	case given.Prefix != r.Prefix:
		return fmt.Sprintf("the installation has the prefix %s and %s was given", InstallPrefix(r.Prefix), InstallPrefix(given.Prefix))
	case given.Fingerprint != r.Fingerprint:
		return fmt.Sprintf("the installation has the fingerprint %s and the recipe and inputs given have %s", r.Fingerprint, given.Fingerprint)
	}
	return ""
}

// DefaultPrefix is where programs are installed when nothing else is said.
const DefaultPrefix = "/usr/local"

// InstallPrefix is the prefix that a record means, in which the default is absent.
func InstallPrefix(prefix string) string {
	if prefix == "" {
		return DefaultPrefix
	}
	return prefix
}
