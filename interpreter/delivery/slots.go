package delivery

import (
	"errors"
	"fmt"
	"path"
	"syscall"

	"hostler/interpreter/host"
)

// Mode is that of a program in a slot.
const Mode = 0o755

// Usable says whether a path leads, through whatever links, to a regular file
// that may be executed. A dangling link, a loop and a link to a directory do
// not.
func Usable(f host.FileView, name string) (bool, error) {
	info, err := f.Stat(name)
	if host.Absent(err) || errors.Is(err, syscall.ELOOP) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0, nil
}

// usableFile says whether the file at a path itself, and no link, is usable.
func usableFile(f host.FileView, name string) (bool, error) {
	info, err := host.Lstat(f, name)
	if host.Absent(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0, nil
}

// Leads says whether a path leads to exactly this file.
func Leads(f host.FileView, name, file string) (bool, error) {
	at, err := f.Stat(name)
	if host.Absent(err) || errors.Is(err, syscall.ELOOP) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	there, err := host.Lstat(f, file)
	if host.Absent(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	a, b := host.StatOf(at), host.StatOf(there)
	return a.Dev == b.Dev && a.Ino == b.Ino, nil
}

// SlotOf is the slot that a link leads to, "" if to none.
func SlotOf(f host.FileView, prefix, link string) (string, error) {
	for _, slot := range Slots(prefix) {
		if leads, err := Leads(f, link, slot); err != nil || leads {
			return slot, err
		}
	}
	return "", nil
}

// Other is the slot that is not this one.
func Other(prefix, slot string) string {
	slots := Slots(prefix)
	if slot == slots[0] {
		return slots[1]
	}
	return slots[0]
}

// Point puts a link beside its target, atomically and durably.
func Point(f host.Files, link, target string) error {
	return host.Symlink(f, path.Base(target), link)
}

// Installation is what is to be done so that the interpreter is installed.
type Installation struct {
	// Seed is the slot that gets a program, "" if one has it. From is the
	// delivered program that is copied to it, "" for the one that runs.
	Seed, From string
	// Links are the links to be made: link to target, in order.
	Links [][2]string
}

// Needed says whether anything is to be done.
func (i Installation) Needed() bool { return i.Seed != "" || len(i.Links) > 0 }

// Survey finds out what is missing of an installation. A link that leads to a
// usable program is left, wherever it leads; a broken one leads to a slot that
// has a program, the first of them where there are two, or to the first slot,
// which gets one. A directory where a link or a program has to be is an error.
func Survey(f host.FileView, prefix string) (i Installation, err error) {
	if err := obstructed(f, prefix); err != nil {
		return i, err
	}
	slot, err := i.current(f, prefix)
	if err != nil {
		return i, err
	}
	good, err := Usable(f, LastGood(prefix))
	if err != nil {
		return i, err
	}
	delivered, err := Leads(f, LastGood(prefix), Program(prefix))
	if err != nil {
		return i, err
	}
	if !good || delivered {
		i.link(LastGood(prefix), slot)
	}
	return i, i.program(f, prefix)
}

func (i *Installation) link(link, target string) { i.Links = append(i.Links, [2]string{link, target}) }

// current sees to the link to the slot that runs, and to the slot. One that
// leads to the delivered program counts as broken: that becomes a link to it.
func (i *Installation) current(f host.FileView, prefix string) (slot string, err error) {
	link := Current(prefix)
	usable, err := Usable(f, link)
	if err != nil {
		return "", err
	}
	delivered, err := Leads(f, link, Program(prefix))
	if err != nil {
		return "", err
	}
	if usable && !delivered {
		slot, err = SlotOf(f, prefix, link)
		if slot == "" {
			slot = link
		}
		return slot, err
	}
	for _, slot := range Slots(prefix) {
		if ok, err := usableFile(f, slot); err != nil || ok {
			i.link(link, slot)
			return slot, err
		}
	}
	i.Seed = Slots(prefix)[0]
	ok, err := usableFile(f, Program(prefix))
	if ok {
		i.From = Program(prefix)
	}
	i.link(link, i.Seed)
	return i.Seed, err
}

// program sees to the name that people call: a link that leads to a usable
// program is left, a delivered file becomes a link to what is installed.
func (i *Installation) program(f host.FileView, prefix string) error {
	usable, err := Usable(f, Program(prefix))
	if err != nil {
		return err
	}
	file, err := usableFile(f, Program(prefix))
	if err == nil && (!usable || file) {
		i.link(Program(prefix), Current(prefix))
	}
	return err
}

// obstructed refuses what cannot be replaced.
func obstructed(f host.FileView, prefix string) error {
	slots := Slots(prefix)
	for _, name := range []string{slots[0], slots[1], Current(prefix), LastGood(prefix), Program(prefix)} {
		info, err := host.Lstat(f, name)
		if host.Absent(err) {
			continue
		}
		if err != nil {
			return err
		}
		if info.IsDir() {
			return fmt.Errorf("%s: a directory is there, where the interpreter belongs; remove it, or install below another prefix", name)
		}
	}
	return nil
}
