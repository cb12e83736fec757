package deliver

import (
	"fmt"
	"path"

	"hostler/interpreter/delivery"
)

// ConflictError says that two things of a payload want one place.
type ConflictError struct{ Path, What, Other string }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s is to be %s and %s; choose another %s, or rename the recipe's file", e.Path, e.What, e.Other, FlagPrefix)
}

// places are what a payload has at which path.
type places map[string]string

// conflicts finds two things at one path, and things below one that is no
// directory. Ignition refuses the first, and stops in the middle at the
// second.
func (p *Payload) conflicts() error {
	at := places{}
	for _, d := range p.Dirs {
		if err := at.put(d.Path, "a directory"); err != nil {
			return err
		}
	}
	for _, f := range p.Files {
		if err := at.put(f.Path, "a file"); err != nil {
			return err
		}
	}
	if err := at.put(p.Path, "the program"); err != nil {
		return err
	}
	if err := at.put(delivery.UnitPath(p.Unit.Name), "the boot unit"); err != nil {
		return err
	}
	for name := range at {
		for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
			if what, ok := at[dir]; ok && what != "a directory" {
				return &ConflictError{dir, what, "the directory of " + name}
			}
		}
	}
	return nil
}

func (at places) put(name, what string) error {
	if other, ok := at[name]; ok {
		return &ConflictError{name, other, what}
	}
	at[name] = what
	return nil
}
